# SPDX-License-Identifier: Apache-2.0
"""``AWS::IAM``: the users of a stack, and the keys that they are given.

Heat's look at the other resources of their stack as plugins: a user at its
policies, and a key at its user, which makes it.  Here a plugin sees of others what
is known of them, and that is enough to make a key.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from heatconv.openstack.stand_ins.resource import Resource
from heatconv.resources import exception
from heatconv.resources.facts import Peer
from heatconv.resources.i18n import _
from heatconv.resources.stack_users import ACCESS_KEY, CREDENTIAL_ID, SECRET_KEY, Account, StackUsers

POLICY = "OS::Heat::AccessPolicy"
USER_NAME = "UserName"


class User(Resource):
    """A user whose policies are not asked: it reaches no resource but its own, whatever they say."""

    def _validate_policies(self, policies: Sequence[Any] | None) -> bool:
        """Tell whether no policy that is given is a resource of another type."""
        named = [each for each in policies or () if isinstance(each, str)]
        found = [self.stack.resource_by_refid(each) for each in named]
        return all(peer is None or peer.type == POLICY for peer in found)


class AccessKey(Resource):
    """A key that is noted before it is made, so that one that an interrupted create made is found again."""

    def handle_create(self) -> None:
        """Make a key of the user.

        Raises:
            NotFound: there is no such user among what the resource refers to.
        """
        account = self._account()
        if account is None:
            raise exception.NotFound(
                _("No user %s of this stack is known to the key %s: refer to one in UserName by its name.")
                % (self.properties[USER_NAME], self.name)
            )
        if ACCESS_KEY not in self.data():
            self.data_set(SECRET_KEY, secrets.token_hex(32), redact=True)
            self.data_set(ACCESS_KEY, secrets.token_hex(16), redact=True)
        self._make(account)
        self.resource_id_set(self.data()[ACCESS_KEY])

    def handle_delete(self) -> None:
        """Delete the key, which may be gone with its user."""
        if ACCESS_KEY not in self.data():
            return
        account = self._account()
        if CREDENTIAL_ID not in self.data() and account is not None:
            self._make(account)  # it may be there already, and nobody has noted its id
        if CREDENTIAL_ID in self.data():
            self._users.remove_key(self.data()[CREDENTIAL_ID])

    def _register_access_key(self) -> None:
        """Do nothing: the user of the key reaches its own resource and no other in any case."""

    def _make(self, account: Account) -> None:
        """Make the key that is noted, unless it is there, and note its id."""
        noted = self.data()
        made = self._users.add_key(account, noted[ACCESS_KEY], noted[SECRET_KEY])
        self.data_set(CREDENTIAL_ID, made, redact=True)

    def _account(self) -> Account | None:
        user: Peer | None = self.stack.resource_by_refid(self.properties[USER_NAME])
        return None if user is None else Account.of(user.data())

    @property
    def _users(self) -> StackUsers:
        """Who makes users, which is there as long as there are users.

        Raises:
            NotSupported: nobody is.
        """
        found: StackUsers | None = self.context.stack_users
        if found is None:
            raise exception.NotSupported(feature=f"The key {self.name} of a user, for want of a domain,")
        return found

# SPDX-License-Identifier: Apache-2.0
"""Resources with a stack user of their own.

The user is made under a name that only this incarnation of the resource has, and
its password is noted before; so whoever goes on after a crash comes to the same
user, and whoever deletes the resource knows whether there may be one.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from heatconv.model.secrets import redacted
from heatconv.resources import exception, resource
from heatconv.resources.facts import Incarnation, Keeper, Unkept
from heatconv.resources.naming import physical_name
from heatconv.resources.password_gen import generate_openstack_password
from heatconv.resources.stack_users import (
    ACCESS_KEY,
    CREDENTIAL_ID,
    NOTES,
    PASSWORD,
    PROJECT_ID,
    SECRET_KEY,
    USER_ID,
    Account,
    StackUsers,
)

NAME_LENGTH = 255  #: characters that Keystone takes for the name of a user


@dataclass(frozen=True)
class KeyPair:
    """An EC2 credential."""

    id: str
    access: str
    secret: str


class OwnUser(resource.Resource):
    """A resource that may have a stack user; the names of its methods are Heat's."""

    def _attach(self, incarnation: Incarnation, keeper: Keeper | None) -> None:
        """See ``Core``; plugins look for the user's project among the facts of the stack."""
        super()._attach(incarnation, keeper)
        self._speak_in(self.data().get(PROJECT_ID))

    def _deleted(self) -> None:
        """See ``Hooks``; with the resource its user goes, whatever becomes of the physical resource."""
        self._delete_user()

    def _recall(self, resource_data: Mapping[str, Any]) -> None:
        """See ``Hooks``; what is adopted gets a user of its own, if any."""
        notes = resource_data.get("resource_data") or {}
        own = {key: value for key, value in notes.items() if key not in NOTES}
        super()._recall({**resource_data, "resource_data": own})

    # -- the user ---------------------------------------------------------------------------

    @property
    def password(self) -> str | None:
        """The password of the user, which is noted before there is one."""
        return self.data().get(PASSWORD)

    @password.setter
    def password(self, password: str | None) -> None:
        if password is None:
            self.data_delete(PASSWORD)
        else:
            self.data_set(PASSWORD, password, redact=True)

    def has_stack_users(self) -> bool:
        """Tell whether there is somebody who makes users for resources."""
        return self.context.stack_users is not None

    def _get_user_id(self) -> str | None:
        """Return the id of the user; None as long as there is none."""
        return self.data().get(USER_ID)

    def _create_user(self) -> None:
        """Make the user, unless it is noted already.

        Raises:
            NotSupported: nobody makes users here; the text says what to do instead.
        """
        if self._get_user_id() is not None:
            return
        users = self._users()
        password = self.password
        if password is None:
            self.password = password = generate_openstack_password()
        about = f"{self.name} of the stack {self.stack.name} ({self.stack.id})"
        account = users.make(self._user_name(), self.uuid, password, about)
        self.data_set(PROJECT_ID, account.project_id)
        self.data_set(USER_ID, account.id)
        self._speak_in(account.project_id)

    def _delete_user(self) -> None:
        """Delete the user, if there may be one, and forget it."""
        if self.password is None:
            return
        if isinstance(self._keeper, Unkept):
            return  # the user is that of the incarnation which the row stands for
        self._users().remove(self._user_name(), self.uuid)
        notes = self.data()
        kept = {key: value for key, value in notes.items() if key not in NOTES}
        self._keep_data(kept, redacted(self._incarnation.data) & kept.keys())

    def _disable_user(self) -> None:
        """Let the user in no more."""
        self._let_in(enabled=False)

    def _enable_user(self) -> None:
        """Let the user in again."""
        self._let_in(enabled=True)

    def _user_token(self) -> str:
        """Return a token of the user.

        Raises:
            ValueError: there is no user yet.
        """
        account, password = Account.of(self.data()), self.password
        if account is None or password is None:
            raise ValueError(f"{self.name} has no user yet, hence no token.")
        return self._users().token(account, password)

    def _get_heat_signal_credentials(self) -> Mapping[str, str | None]:
        """Return what it takes to log in as the user, which is made if need be."""
        self._create_user()
        users = self._users()
        return {
            "auth_url": users.auth_url,
            "username": self._user_name(),
            "user_id": self._get_user_id(),
            "password": self.password,
            "project_id": self.data()[PROJECT_ID],
            "domain_id": users.domain_id,
            "region_name": users.region_name,
        }

    def _get_heat_signal_url(self) -> str:
        """Return the URL that takes signals from the user: it is in the user's project, and not signed."""
        signed = self.stack.signal_url(self.uuid)
        owner, own = (
            f"/v1/{quote(each, safe='')}/" for each in (self.stack.project_id, self.data()[PROJECT_ID])
        )
        return signed.partition("?")[0].replace(owner, own, 1)

    def _register_access_key(self) -> None:
        """Do nothing: a stack user reaches its own resource and no other in any case."""

    # -- its keys -----------------------------------------------------------------------------

    def _create_keypair(self) -> KeyPair:
        """Return the EC2 credential of the user, made unless it is noted already.

        Raises:
            ValueError: there is no user yet.
        """
        account = Account.of(self.data())
        if account is None:
            raise ValueError(f"{self.name} has no user yet, hence no keys.")
        if ACCESS_KEY not in self.data():
            self.data_set(SECRET_KEY, secrets.token_hex(32), redact=True)
            self.data_set(ACCESS_KEY, secrets.token_hex(16), redact=True)
        access, secret = self.data()[ACCESS_KEY], self.data()[SECRET_KEY]
        if CREDENTIAL_ID not in self.data():
            self.data_set(CREDENTIAL_ID, self._users().add_key(account, access, secret), redact=True)
        return KeyPair(self.data()[CREDENTIAL_ID], access, secret)

    def _delete_keypair(self) -> None:
        """Delete the EC2 credential, if there is one."""
        credential_id = self.data().get(CREDENTIAL_ID)
        if credential_id is not None:
            self._users().remove_key(credential_id)
        for key in (ACCESS_KEY, SECRET_KEY, CREDENTIAL_ID):
            self.data_delete(key)

    # -- inside -------------------------------------------------------------------------------

    def _users(self) -> StackUsers:
        users: StackUsers | None = self.context.stack_users
        if users is None:
            raise exception.NotSupported(
                feature=f"A Keystone user for {self.name}, as long as the operator names no domain for such"
                " users (stack_user_domain_name; use a signed URL, or user_data_format RAW, instead),"
            )
        return users

    def _user_name(self) -> str:
        return physical_name(self.stack.name, self.name, self.uuid, NAME_LENGTH)

    def _let_in(self, *, enabled: bool) -> None:
        user_id = self._get_user_id()
        if user_id is not None:
            self._users().enable(user_id, enabled=enabled)

    def _speak_in(self, project_id: str | None) -> None:
        if project_id != self.stack.stack_user_project_id:
            self.stack = replace(self.stack, stack_user_project_id=project_id)

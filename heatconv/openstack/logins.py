# SPDX-License-Identifier: Apache-2.0
"""How daemons act for users who are not there: by a delegation of theirs, or by the token of a request.

Nothing of it is logged.  A delegation is read anew whenever a token is got by it: so a session goes
on by itself when a token has expired or was revoked, and when another delegation has
taken the place of the one before.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from keystoneauth1 import access, exceptions
from keystoneauth1 import loading as keystone_loading
from keystoneauth1.identity import v3 as identity
from keystoneauth1.identity.base import BaseIdentityPlugin
from keystoneauth1.session import Session
from oslo_config import cfg

from heatconv import errors
from heatconv.model.delegation import Delegation
from heatconv.openstack.session import CloudContext, CountedSession, Known, keep_connections, v3

LOG = logging.getLogger(__name__)

TRUSTEE = "trustee"  #: the group of options that heat.conf has, too
TRUSTS = "trusts"
MOST = 200  #: users of stacks whose sessions are kept, with the connections to services that these have

#: The end of a token whose end Keystone does not say: it is used for one request.
LATE = "9999-12-31T23:59:59.000000Z"

#: What Keystone says to a delegation that is worth nothing any more: it, its user or a role is gone.
REFUSED = (exceptions.Unauthorized, exceptions.Forbidden, exceptions.NotFound)

DelegationOf = Callable[[str], Delegation | None]  #: of a root stack
TokenFor = Callable[[str], str | None]  #: the token that came with the request served now, for a project


class Undelegated(exceptions.Unauthorized):
    """A user's delegation is worth nothing any more."""


class Trustee:
    """The user of this installation, to whom users delegate."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        """Read how it logs in.

        Raises:
            Misconfigured: the configuration does not say so.
        """
        self._conf = conf
        keystone_loading.register_auth_conf_options(conf, TRUSTEE)
        plugin = self.plugin()
        if plugin is None or not conf[TRUSTEE].auth_url:
            raise errors.Misconfigured(
                reason=f"openstack_resources needs a user to act by: set auth_type, auth_url, username and "
                f"the others of the group [{TRUSTEE}]."
            )
        self.auth_url = v3(conf[TRUSTEE].auth_url)
        self.session = self.session_of(plugin)

    def plugin(self, **by: str) -> Any:
        """Return the plugin that logs in as this user; ``trust_id``: and then acts as another."""
        return keystone_loading.load_auth_from_conf_options(self._conf, TRUSTEE, **by)

    def session_of(self, plugin: Any) -> Any:
        """Return a session that logs in by a plugin, and talks to services as ``[clients_keystone]`` says."""
        from heat.common.config import get_ssl_options  # noqa: PLC0415 - there once the finder is installed

        made = CountedSession(auth=plugin, timeout=self._conf.service_timeout, **get_ssl_options("keystone"))
        keep_connections(made)
        return made

    def by(self, delegation: Delegation) -> Any:
        """Return the plugin that logs in by a delegation."""
        if delegation.method == TRUSTS:
            return self.plugin(trust_id=delegation.secret["trust_id"])
        return identity.ApplicationCredential(
            auth_url=self.auth_url,
            application_credential_name=delegation.secret["name"],
            application_credential_secret=delegation.secret["secret"],
            user_id=delegation.user_id,
        )

    def check(self) -> None:
        """Make sure that it is not the trustee that Keystone refuses.

        Raises:
            ServiceUnavailable: it is, which is nothing that a user has done, and will be mended.
        """
        try:
            self.session.auth.get_auth_ref(self.session)
        except REFUSED as error:
            LOG.error("Keystone does not let the user of [%s] in: %s", TRUSTEE, error)  # noqa: TRY400 - where it came up says no more
            raise exceptions.ServiceUnavailable(f"the user of [{TRUSTEE}] cannot log in") from error


class ByDelegation(BaseIdentityPlugin):
    """Logs in by the delegation of a stack's user, whichever that is by then."""

    def __init__(self, trustee: Trustee, current: Callable[[], Delegation | None]) -> None:
        super().__init__(auth_url=trustee.auth_url)
        self._trustee = trustee
        self._current = current

    def get_auth_ref(self, session: Session, **_options: Any) -> Any:
        """Return a new token.

        Raises:
            Undelegated: nothing was delegated, or it is worth nothing any more.
            ServiceUnavailable: it is us that Keystone does not know any more.
        """
        delegation = self._current()
        if delegation is None:
            raise Undelegated(
                "Nobody has delegated to this stack what it needs: update it with a token of its project"
            )
        try:
            return self._trustee.by(delegation).get_auth_ref(session)
        except REFUSED as error:
            self._trustee.check()
            raise Undelegated(
                f"What user {delegation.user_id} has delegated to this stack is worth nothing any more: "
                f"the user or a role is gone from project {delegation.project_id}. Update the stack as "
                "somebody who is there"
            ) from error


class ByToken(BaseIdentityPlugin):
    """Acts by a token that somebody else has got, for as long as that is valid."""

    def __init__(self, auth_url: str, token: str, project_id: str) -> None:
        super().__init__(auth_url=auth_url, reauthenticate=False)
        self._token = token
        self._project_id = project_id

    def get_auth_ref(self, session: Session, **_options: Any) -> Any:
        """Ask Keystone what the token is for; of a token by a trust it only says which services there are."""
        try:
            answer = self._ask(session, "auth/tokens", {"X-Subject-Token": self._token})
        except exceptions.Forbidden:
            catalog = self._ask(session, "auth/catalog", {}).json()["catalog"]
            unknown = {"id": None, "domain": {"id": None}}
            known = {"catalog": catalog, "project": unknown | {"id": self._project_id}}
            token = known | {"user": unknown, "expires_at": LATE}
            return access.create(body={"token": token}, auth_token=self._token)
        return access.create(resp=answer, auth_token=self._token)

    def _ask(self, session: Session, path: str, headers: Mapping[str, str]) -> Any:
        own = {"X-Auth-Token": self._token, **headers}
        return session.get(f"{self.auth_url}/{path}", headers=own, authenticated=False, log=False)


class Delegated:
    """The login of a stack's user, who is not there; see ``heatconv.openstack.session.Login``."""

    def __init__(
        self, trustee: Trustee, current: Callable[[], Delegation | None], region: str | None
    ) -> None:
        self._read = current
        self._delegation = current()
        self.known = Known()
        self.auth_url = trustee.auth_url
        self.region_name = region
        self.session = trustee.session_of(ByDelegation(trustee, self._current))

    def _current(self) -> Delegation | None:
        self._delegation = self._read()
        return self._delegation

    @property
    def access(self) -> Any:
        """What Keystone says of the token."""
        return self.session.auth.get_access(self.session)

    @property
    def is_there(self) -> bool:
        """Whether anything was delegated."""
        return self._delegation is not None or self._current() is not None

    @property
    def user_id(self) -> str | None:
        """The user of the stack."""
        return None if self._delegation is None else self._delegation.user_id

    @property
    def trust_id(self) -> str | None:
        """By which trust, if it is by one."""
        return self._trust.get("trust_id")

    @property
    def trustor_user_id(self) -> str | None:
        """The user who gave that trust."""
        return self.user_id if self._trust else None

    @property
    def _trust(self) -> Mapping[str, Any]:
        by_trust = self._delegation is not None and self._delegation.method == TRUSTS
        return self._delegation.secret if by_trust and self._delegation else {}


class Asking:
    """The login of the user whose request is served now; of the trustee, if that came with no token."""

    trust_id = None
    trustor_user_id = None

    def __init__(self, trustee: Trustee, token: str | None, project_id: str, region: str | None) -> None:
        self.known = Known()
        self.auth_url = trustee.auth_url
        self.region_name = region
        by_token = token and trustee.session_of(ByToken(trustee.auth_url, token, project_id))
        self.session = by_token or trustee.session

    @property
    def access(self) -> Any:
        """What Keystone says of the token."""
        return self.session.auth.get_access(self.session)


class Logins:
    """Whom plugins act for, by stack; safe between threads.

    The sessions of the stacks that were acted on last are kept.
    """

    def __init__(
        self, trustee: Trustee, delegation_of: DelegationOf, token_for: TokenFor, region: str | None
    ) -> None:
        self._trustee = trustee
        self._delegation_of = delegation_of
        self._token_for = token_for
        self._region = region
        self._kept: OrderedDict[str, Delegated] = OrderedDict()
        self._lock = threading.Lock()

    def context(self, project_id: str, root_id: str | None, *, asking: bool) -> CloudContext:
        """Return whom a plugin acts for in a project.

        Args:
            root_id: the root stack that it acts on; None: it is only asked what the cloud has.
            asking: for who asks with a template, rather than for the stack's user.
        """
        token = self._token_for(project_id)
        delegated = None if root_id is None else self._of(root_id)
        if delegated is None or (token is not None and (asking or not delegated.is_there)):
            asker = Asking(self._trustee, token, project_id, self._region)
            return CloudContext(project_id=project_id, login=asker)
        return CloudContext(project_id=project_id, user_id=delegated.user_id, login=delegated)

    def _of(self, root_id: str) -> Delegated:
        with self._lock:
            if (kept := self._kept.get(root_id)) is not None:
                self._kept.move_to_end(root_id)
                return kept
        made = Delegated(self._trustee, lambda: self._delegation_of(root_id), self._region)
        with self._lock:
            self._kept[root_id] = made
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)
        return made

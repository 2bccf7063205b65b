# SPDX-License-Identifier: Apache-2.0
"""The domain of the stack users, and its administrator, who makes and deletes them.

Names are unique in a domain of Keystone's, and these are unique to one
incarnation of a resource: what is made twice is there once, whoever died in
between.  The administrator's password stays in its session.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from typing import Any

from keystoneauth1.exceptions import Conflict, NotFound, Unauthorized
from keystoneauth1.identity import v3
from keystoneauth1.session import Session
from keystoneclient.v3.client import Client
from oslo_config import cfg

from heatconv import errors
from heatconv.openstack.stand_ins.exception import AuthorizationFailure
from heatconv.resources.stack_users import ROLE, Account

#: Passwords that nobody types are not for Keystone's rules about passwords to let expire.
_OPTIONS = {
    "ignore_change_password_upon_first_use": True,
    "ignore_password_expiry": True,
    "ignore_lockout_failure_attempts": True,
}


class Domain:
    """Implements ``heatconv.resources.stack_users.StackUsers`` by a domain of Keystone's.

    Concurrency: safe to share between threads; so is the session.
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        *,
        auth_url: str,
        senders_url: str | None = None,
        verify: bool | str = True,
        timeout: float | None = None,
        region_name: str | None = None,
    ) -> None:
        """Take the administrator from the configuration; nobody is asked yet.

        Args:
            conf: with the options ``stack_user_domain_*`` and ``stack_domain_admin*``.
            auth_url: of version 3 of Keystone.
            senders_url: the same, where servers and other senders reach it; None: they use ``auth_url``.
            verify: whether to check Keystone's certificate, or the file that it is checked by.
            timeout: seconds that Keystone has to answer in.
            region_name: where users find this service.

        Raises:
            Misconfigured: there is a domain without an administrator.
        """
        for name in ("stack_domain_admin", "stack_domain_admin_password"):
            if not conf[name]:
                raise errors.Misconfigured(reason=f"stack_user_domain is set: set {name}, too.")
        self.auth_url = senders_url or auth_url
        self.region_name = region_name
        self._url = auth_url
        self._verify = verify
        self._admin: str = conf.stack_domain_admin
        by_id, by_name = conf.stack_user_domain_id, conf.stack_user_domain_name
        domain = {"domain_id": by_id} if by_id else {"domain_name": by_name}
        self._login = v3.Password(
            auth_url,
            username=self._admin,
            password=conf.stack_domain_admin_password,
            **domain,
            **{f"user_{key}": value for key, value in domain.items()},
        )
        self._session = Session(auth=self._login, verify=verify, timeout=timeout)
        self._role_id: str | None = None

    @property
    def domain_id(self) -> str:
        """The id of the domain."""
        found: str = self._access().domain_id
        return found

    def make(self, name: str, project: str, password: str, about: str) -> Account:
        """See ``StackUsers``.

        The project is the first to be there and the first to go, so that who makes the user
        while somebody deletes it finds out, and leaves nothing.
        """
        keystone = self._keystone()
        project_id = self._made(keystone.projects, name=project, description=about).id
        options = {"password": password, "default_project": project_id, "options": _OPTIONS}
        user = self._made(keystone.users, name=name, **options)
        try:
            keystone.roles.grant(self._role(keystone), user=user, project=project_id)
        except NotFound:
            with contextlib.suppress(NotFound):
                keystone.users.delete(user)
            raise
        return Account(user.id, project_id)

    def remove(self, name: str, project: str) -> None:
        """See ``StackUsers``."""
        keystone = self._keystone()
        for manager, called in ((keystone.projects, project), (keystone.users, name)):
            for each in manager.list(domain=self.domain_id, name=called):
                with contextlib.suppress(NotFound):
                    manager.delete(each)

    def enable(self, user_id: str, *, enabled: bool) -> None:
        """See ``StackUsers``."""
        self._keystone().users.update(user_id, enabled=enabled)

    def add_key(self, account: Account, access_key: str, secret_key: str) -> str:
        """See ``StackUsers``."""
        blob = json.dumps({"access": access_key, "secret": secret_key})
        credentials = self._keystone().credentials
        with contextlib.suppress(Conflict):  # it was made before
            credentials.create(user=account.id, type="ec2", blob=blob, project=account.project_id)
        # Keystone's rule for the ids of EC2 credentials: there is but one of an access key.
        return hashlib.sha256(access_key.encode()).hexdigest()

    def remove_key(self, credential_id: str) -> None:
        """See ``StackUsers``."""
        with contextlib.suppress(NotFound):
            self._keystone().credentials.delete(credential_id)

    def token(self, account: Account, password: str) -> str:
        """See ``StackUsers``."""
        login = v3.Password(self._url, user_id=account.id, password=password, project_id=account.project_id)
        return str(login.get_token(Session(verify=self._verify, timeout=self._session.timeout)))

    def _made(self, manager: Any, *, name: str, **more: Any) -> Any:
        """Return the project or user of a name, as given: a new one, or the one that is there."""
        try:
            return manager.create(name=name, domain=self.domain_id, **more)
        except Conflict:
            found = manager.list(domain=self.domain_id, name=name)
            if not found:
                raise  # it went meanwhile
            return manager.update(found[0], **more)

    def _role(self, keystone: Any) -> str:
        if self._role_id is None:
            found = keystone.roles.list(name=ROLE)
            if not found:
                raise errors.ActionFailed(
                    f"Keystone has no role {ROLE}, which users of single resources need: make one"
                    f" ('openstack role create {ROLE}')."
                )
            self._role_id = found[0].id
        return self._role_id

    def _keystone(self) -> Any:
        """Return a client of Keystone's as the administrator."""
        self._access()
        return Client(session=self._session, endpoint_override=self._url)

    def _access(self) -> Any:
        try:
            return self._login.get_access(self._session)
        except Unauthorized:
            raise AuthorizationFailure(
                failure_reason=f"Keystone does not let {self._admin} into the domain of stack users: see"
                " stack_domain_admin and stack_user_domain_name in the configuration."
            ) from None


def configured(conf: cfg.ConfigOpts, **keystone: Any) -> Domain | None:
    """Return the domain of the stack users; None if the operator names none.

    Args:
        conf: the configuration.
        keystone: where it is, as ``Domain`` takes it.

    Raises:
        Misconfigured: it has no administrator.
    """
    named = conf.stack_user_domain_id or conf.stack_user_domain_name
    return Domain(conf, **keystone) if named else None

# SPDX-License-Identifier: Apache-2.0
"""Whom plugins act for in a cloud, and one user's cloud, as ``clouds.yaml`` names it.

The login of that user, be it by a password or an application credential, is read by
openstacksdk and stays in its session; tokens are renewed there.  Nothing of it
is written down or logged here.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Protocol

from cachetools import TTLCache
from keystoneauth1.exceptions import ClientException
from keystoneauth1.plugin import AUTH_INTERFACE
from keystoneauth1.session import Session
from openstack.config import OpenStackConfig
from openstack.exceptions import ConfigException
from os_service_types import ServiceTypes
from requests.adapters import DEFAULT_POOLSIZE, HTTPAdapter

from heatconv import errors
from heatconv.metrics.declared import SERVICE_CALLS
from heatconv.resources.context import Context

FRESH = 60.0  #: seconds for which what a service has told of itself, or of an id, need not be asked again
MOST_KNOWN = 10_000  #: answers that a login remembers
_SERVICES = ServiceTypes()
_METHODS = frozenset({"DELETE", "GET", "HEAD", "PATCH", "POST", "PUT"})
_STATUSES = frozenset(map(int, HTTPStatus))

CONNECTIONS = 64  #: to a service, which a login keeps open: as many threads has a worker


class Known:
    """What some user was told a moment ago, so that it need not be asked for again.

    Concurrency: safe between threads.
    """

    def __init__(self) -> None:
        self._known: TTLCache[Hashable, Any] = TTLCache(MOST_KNOWN, FRESH)
        self._lock = threading.Lock()

    def keep(self, key: Hashable, what: Any) -> None:
        """Remember something for a while."""
        with self._lock:
            self._known[key] = what

    def get(self, key: Hashable) -> Any:
        """Return what is remembered; None if nothing is."""
        with self._lock:
            return self._known.get(key)

    def note_id(self, kind: str, id_: str) -> None:
        """Remember that there is something of a kind with an id."""
        self.keep(("id", kind, id_), id_)


class Login(Protocol):
    """A user in a project, logged in."""

    known: Known

    @property
    def session(self) -> Any:
        """What requests are sent by: a session of keystoneauth's, safe between threads."""

    @property
    def access(self) -> Any:
        """What Keystone says of the token: whose it is, for what."""

    @property
    def auth_url(self) -> str:
        """Where Keystone is."""

    @property
    def region_name(self) -> str | None:
        """The region that services are looked for in."""

    @property
    def trust_id(self) -> str | None:
        """By which trust, if it is by one."""

    @property
    def trustor_user_id(self) -> str | None:
        """The user who gave that trust."""


class Cloud:
    """A cloud and the login of one user in one project of it.

    Concurrency: safe to share between threads; so is the session.
    """

    trust_id = None
    trustor_user_id = None

    def __init__(self, name: str, timeout: float) -> None:
        """Log in.

        Args:
            name: of the cloud, in the ``clouds.yaml`` that openstacksdk finds.
            timeout: seconds that a service has to answer in, unless that file says so.

        Raises:
            Misconfigured: there is no such cloud, it cannot be reached, or it lets nobody in.
        """
        self.name = name
        try:
            config = OpenStackConfig(app_name="heatconv", session_constructor=CountedSession)
            region = config.get_one(cloud=name)
            session: Any = region.get_session()
            session.timeout = session.timeout or timeout
            keep_connections(session)
            self.access: Any = session.auth.get_access(session)
            auth_url = session.get_endpoint(interface=AUTH_INTERFACE)
        except (ClientException, ConfigException) as error:
            raise errors.Misconfigured(
                reason=f"the cloud {name} of clouds.yaml cannot be logged in to: {str(error).rstrip('.')}."
            ) from error
        if self.access.project_id is None:
            raise errors.Misconfigured(
                reason=f"the login of the cloud {name} is for no project: name one in clouds.yaml."
            )
        self.session = session
        self.known = Known()
        self.region_name: str | None = region.get_region_name()
        self.interface = str(region.config.get("interface") or "public")
        self.auth_url = auth_url or ""

    def context(self) -> CloudContext:
        """Return what acts for the user: one for each action."""
        access = self.access
        return CloudContext(
            project_id=access.project_id,
            user_id=access.user_id,
            username=access.username,
            roles=tuple(access.role_names),
            is_admin="admin" in access.role_names,
            login=self,
        )


@dataclass(frozen=True, kw_only=True)
class CloudContext(Context):
    """The user of a cloud, by the names that Heat's client plugins know."""

    login: Login = field(repr=False)

    auth_token_info = None

    @property
    def keystone_session(self) -> Any:
        """The session that all requests are sent by."""
        return self.login.session

    @property
    def auth_plugin(self) -> Any:
        """What that session logs in by."""
        return self.login.session.auth

    @property
    def auth_token(self) -> str:
        """A token that is valid now."""
        return str(self.login.session.get_token())

    @property
    def trust_id(self) -> str | None:
        """By which trust the user acts, if it is by one."""
        return self.login.trust_id

    @property
    def trustor_user_id(self) -> str | None:
        """The user who gave that trust."""
        return self.login.trustor_user_id

    @property
    def region_name(self) -> str | None:
        """The region that services are looked for in."""
        return self.login.region_name

    @property
    def auth_url(self) -> str:
        """Where Keystone is."""
        return self.login.auth_url

    @property
    def keystone_v3_endpoint(self) -> str:
        """Where version 3 of Keystone is."""
        return v3(self.auth_url)

    @property
    def user_domain(self) -> str | None:
        """The domain of the user, as an id."""
        found: str | None = self.login.access.user_domain_id
        return found

    @property
    def project_domain(self) -> str | None:
        """The domain of the project, as an id."""
        found: str | None = self.login.access.project_domain_id
        return found

    def reload_auth_plugin(self) -> None:
        """Log in anew before the next request."""
        self.auth_plugin.invalidate()


class CountedSession(Session):
    """A session of which is counted what services answer."""

    def request(self, url: str, method: str, *arguments: Any, **options: Any) -> Any:
        """Send a request, see the base."""
        status: int | None = None
        try:
            answer = super().request(url, method, *arguments, **options)
        except ClientException as error:
            status = getattr(error, "http_status", None)
            raise
        else:
            status = answer.status_code
            return answer
        finally:
            wanted = (options.get("endpoint_filter") or {}).get("service_type")
            SERVICE_CALLS.add(
                service=(wanted and _SERVICES.get_service_type(wanted)) or "other",
                method=method if method in _METHODS else "other",
                status=(status if status in _STATUSES else "other") if status else "none",
            )


def keep_connections(session: Session) -> None:
    """Let as many threads as there are send requests by a session, each by a connection that stays open.

    Its adapters are kept, and with them the ciphers and the version of TLS that are configured.
    """
    for adapter in session.session.adapters.values():
        if isinstance(adapter, HTTPAdapter):
            adapter.init_poolmanager(DEFAULT_POOLSIZE, CONNECTIONS)


def v3(auth_url: str) -> str:
    """Return where version 3 of a Keystone is."""
    return auth_url.rstrip("/").removesuffix("/v2.0").removesuffix("/v3") + "/v3"

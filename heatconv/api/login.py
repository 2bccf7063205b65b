# SPDX-License-Identifier: Apache-2.0
"""Logging in at Keystone for the live page, which may ask nobody but the API that it came from.

The body of a login has no URL in it: the Keystone that is asked is the one that the API itself logs in at
(``[keystone_authtoken]``), and a redirect of it is not followed.  A login is asked of it once, in a request
that is made here of a few short texts.  Neither these nor the token are logged or kept.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import Any, Self

import falcon
from keystoneauth1 import exceptions, loading
from keystoneauth1.identity import v3
from keystoneauth1.session import Session
from oslo_config import cfg

from heatconv.api import body
from heatconv.api.auth import address_of, too_many
from heatconv.api.passwords import SLOTS, Guesses, TooManyGuesses
from heatconv.api.schemas import login as schemas
from heatconv.api.tokens import GROUP

LOG = logging.getLogger(__name__)

URL = "/ui/login"

AT_ONCE = 4  #: logins that wait for Keystone; each holds a thread of the API
SECONDS = 10.0  #: in which Keystone has to answer

#: What Keystone says to a login that is wrong, or wants more than a password.
_REFUSALS = (
    exceptions.Unauthorized,
    exceptions.Forbidden,
    exceptions.BadRequest,
    exceptions.MissingAuthMethods,
)

_REFUSED = (
    "Keystone does not let you in: the name, the password, a domain or the project is wrong, or you have no "
    "role in that project."
)
_AWAY = "Keystone did not answer; try again later."
_BUSY = "Too many log in at this moment; try again in a few seconds."


class Login:
    """Gets a token for whoever has a password or an application credential.

    Concurrency: no more than ``AT_ONCE`` requests ask Keystone at a time, so that a slow one leaves the
    API its threads; wrong passwords are slowed down by name and by address, as ``passwords`` does.
    """

    def __init__(self, auth_url: str, session: Session) -> None:
        """Take where Keystone is, and what asks it."""
        self._auth_url = auth_url
        self._session = session
        self._places = threading.BoundedSemaphore(AT_ONCE)
        self._by_name = Guesses(at_once=20, seconds=10.0)
        self._by_address = Guesses(at_once=100, seconds=1.0)

    @classmethod
    def of(cls, conf: cfg.ConfigOpts) -> Self:
        """Return what logs in at the Keystone that is configured; its options are registered."""
        options = conf[GROUP]
        plugin = loading.load_auth_from_conf_options(conf, GROUP)
        session = Session(
            verify=False if options.insecure else options.cafile or True,
            cert=(options.certfile, options.keyfile) if options.certfile else None,
            timeout=SECONDS,
            redirect=False,
        )
        return cls(getattr(plugin, "auth_url", None) or options.www_authenticate_uri, session)

    def on_post(self, request: falcon.Request, response: falcon.Response) -> None:
        """Answer with a token, the moment it expires, and the project that it is for.

        Raises:
            UserError: the body is not as the schema has it.
            falcon.HTTPUnauthorized: Keystone does not accept it.
            falcon.HTTPServiceUnavailable: Keystone did not answer, or too many ask at once.
            falcon.HTTPTooManyRequests: there were too many wrong passwords.
        """
        sent = body.checked(body.read(request, schemas.LARGEST), schemas.LOGIN)
        slots = self._count(sent, request)
        found = self._asked(self._plugin(sent))
        for guesses, slot in slots:
            guesses.forget(slot)
        response.set_header("Cache-Control", "no-store")
        response.media = found

    def _plugin(self, sent: Mapping[str, Any]) -> v3.Auth:
        """Return what makes the one request of a login; without a catalog, its answer is short."""
        if "credential_id" in sent:
            return v3.ApplicationCredential(
                auth_url=self._auth_url,
                application_credential_id=sent["credential_id"],
                application_credential_secret=sent["credential_secret"],
                include_catalog=False,
            )
        return v3.Password(
            auth_url=self._auth_url,
            username=sent["user"],
            user_domain_name=sent["user_domain"],
            password=sent["password"],
            project_name=sent["project"],
            project_domain_name=sent["project_domain"],
            include_catalog=False,
        )

    def _asked(self, plugin: v3.Auth) -> dict[str, Any]:
        if not self._places.acquire(blocking=False):
            raise falcon.HTTPServiceUnavailable(description=_BUSY)
        try:
            access = plugin.get_access(self._session)
            return {
                "token": access.auth_token,
                "expires_at": access.expires and access.expires.isoformat(),
                "user": access.username,
                "project": {"id": access.project_id, "name": access.project_name},
            }
        except _REFUSALS:
            raise falcon.HTTPUnauthorized(description=_REFUSED) from None
        except (exceptions.ClientException, LookupError, TypeError) as error:
            # Its text may repeat what was sent, or be of an answer that is none; its class says enough.
            LOG.warning("Nobody can log in at %s: %s", self._auth_url, type(error).__name__)
            raise falcon.HTTPServiceUnavailable(description=_AWAY) from None
        finally:
            self._places.release()

    def _count(self, sent: Mapping[str, Any], request: falcon.Request) -> list[tuple[Guesses, int]]:
        """Count a login as a guess, which it is until Keystone has accepted it; return as which."""
        name = hash((sent.get("user_domain"), sent.get("user"), sent.get("credential_id")))
        slots = [(self._by_address, hash(address_of(request)) % SLOTS), (self._by_name, name % SLOTS)]
        try:
            for guesses, slot in slots:
                guesses.count(slot)
        except TooManyGuesses as slow:
            raise too_many(slow) from None
        return slots

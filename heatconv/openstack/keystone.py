# SPDX-License-Identifier: Apache-2.0
"""Trusts and application credentials: made for users, and given back; the engine's ``Authority``.

A trust bears the id of its delegation in an attribute of its own, which Keystone keeps and lists.  An
application credential has its name by it, and a secret that is ours: written down before
it is made, it is all that is needed to give it back.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from keystoneauth1 import exceptions

from heatconv import errors
from heatconv.model.delegation import Delegation
from heatconv.model.records import Stack
from heatconv.openstack.logins import REFUSED, TRUSTS, TokenFor, Trustee

MARK = "heatconv"  #: the attribute of a trust that says for which delegation it was made
SECONDS = 30  #: that Keystone has to answer in: an engine's thread waits for it

_REQUEST = {"log": False, "timeout": SECONDS}


class Keystone:
    """Vouches for the users of stacks; implements ``heatconv.engine.delegating.Authority``."""

    def __init__(
        self,
        trustee: Trustee,
        token_for: TokenFor,
        method: str,
        roles: Sequence[str],
        *,
        redelegation: bool = False,
    ) -> None:
        """Keep what is handed in.

        Args:
            trustee: to whom trusts are given.
            token_for: the token of the request that is served now.
            method: "trusts", or "application_credential".
            roles: the names of those that are delegated; none: all that a token has.
            redelegation: whether a trust can be passed on.
        """
        self._trustee = trustee
        self._token_for = token_for
        self._method = method
        self._roles = roles
        self._redelegation = redelegation

    def intended(self, delegation_id: str, stack: Stack, user_id: str) -> Delegation:
        """Return the delegation to be made for a stack; nothing is made yet."""
        own = {"name": f"heatconv-{delegation_id}", "secret": secrets.token_urlsafe(48)}
        return Delegation(
            id=delegation_id,
            stack_id=stack.id,
            project_id=stack.project_id,
            user_id=user_id,
            method=self._method,
            secret={} if self._method == TRUSTS else own,
        )

    def make(self, intended: Delegation, roles: Sequence[str]) -> Delegation:
        """Make an intended delegation with the token of the request that is served now.

        Args:
            intended: what is to be made.
            roles: the names of all that the token has.

        Raises:
            Forbidden: this token cannot delegate that.
            TransportError: Keystone has not answered, or not as it should.
        """
        token = self._token_for(intended.project_id)
        if token is None:
            raise errors.Forbidden(f"Send a token that is scoped to project {intended.project_id}.")
        with _refusal_explained("delegate to heatconv what this stack needs"):
            if intended.method == TRUSTS:
                return replace(intended, secret={"trust_id": self._make_trust(token, intended, roles)})
            self._make_application_credential(token, intended, roles)
            return intended

    def works(self, delegation: Delegation) -> bool:
        """Tell whether Keystone still gives tokens for it; yes, if it does not answer."""
        try:
            self._trustee.by(delegation).get_auth_ref(self._trustee.session)
        except REFUSED:
            return False
        except exceptions.ClientException:
            return True
        return True

    def give_back(self, delegation: Delegation) -> bool:
        """Delete a delegation, if it is there; return whether it is gone.

        A trust cannot be deleted while its user has no role in the project: it opens nothing then.

        Raises:
            TransportError: Keystone has not answered, or does not know us.
        """
        delete = self._delete_trusts if delegation.method == TRUSTS else self._delete_application_credential
        try:
            return delete(delegation)
        except exceptions.ClientException as error:
            raise errors.TransportError(reason=f"Keystone: {error}") from error

    # -- trusts --------------------------------------------------------------------------------

    def _make_trust(self, token: str, intended: Delegation, roles: Sequence[str]) -> str:
        """Make a trust; of a token that is itself by a trust Keystone does not say whose token it is."""
        trust = {
            "trustor_user_id": intended.user_id,
            "trustee_user_id": self._trustee_id(),
            "project_id": intended.project_id,
            "impersonation": True,
            "allow_redelegation": self._redelegation,
            "roles": [{"name": name} for name in self._roles or roles],
            MARK: intended.id,
        }
        answer = self._post(token, self._url("OS-TRUST/trusts"), {"trust": trust})
        return str(answer.json()["trust"]["id"])

    def _trustee_id(self) -> str:
        """Return the trustee's id.

        Raises:
            ServiceUnavailable: it cannot log in.
        """
        try:
            return str(self._trustee.session.get_user_id())
        except REFUSED:
            self._trustee.check()
            raise

    def _delete_trusts(self, delegation: Delegation) -> bool:
        known = delegation.secret.get("trust_id")
        gone = True
        for trust_id in [known] if known else self._marked(delegation.id):
            path = f"OS-TRUST/trusts/{trust_id}"
            self._delete(replace(delegation, secret={"trust_id": trust_id}), path)
            gone = not self._is_there(path) and gone
        return gone

    def _is_there(self, path: str) -> bool:
        try:
            self._trustee.session.get(self._url(path), **_REQUEST)
        except exceptions.NotFound:
            return False
        return True

    def _marked(self, delegation_id: str) -> list[str]:
        """Return the trusts that were made for a delegation by an engine that could not write it down."""
        mine = {"trustee_user_id": self._trustee_id()}
        answer = self._trustee.session.get(self._url("OS-TRUST/trusts"), params=mine, **_REQUEST)
        return [each["id"] for each in answer.json()["trusts"] if each.get(MARK) == delegation_id]

    # -- application credentials -------------------------------------------------------------------

    def _make_application_credential(self, token: str, intended: Delegation, roles: Sequence[str]) -> None:
        wanted = {
            **intended.secret,
            "description": f"made by heatconv for stack {intended.stack_id}",
            "roles": [{"name": name} for name in self._roles or roles],
            "unrestricted": True,  # by another one it could not be deleted when the user is not there
        }
        url = self._url(f"users/{intended.user_id}/application_credentials")
        self._post(token, url, {"application_credential": wanted})

    def _delete_application_credential(self, delegation: Delegation) -> bool:
        session = self._trustee.session_of(self._trustee.by(delegation))
        try:
            found = session.auth.get_access(session).application_credential_id
        except REFUSED:
            self._trustee.check()
            return True  # Keystone itself deletes it with the user's last role
        self._delete(delegation, f"users/{delegation.user_id}/application_credentials/{found}")
        return True

    # -- both --------------------------------------------------------------------------------------

    def _delete(self, by: Delegation, path: str) -> None:
        """Delete the thing at a path with the rights of a delegation."""
        session = self._trustee.session_of(self._trustee.by(by))
        try:
            session.delete(self._url(path), **_REQUEST)
        except REFUSED:
            self._trustee.check()

    def _post(self, token: str, url: str, body: Mapping[str, Any]) -> Any:
        own = {"X-Auth-Token": token}
        return self._trustee.session.post(url, json=body, headers=own, authenticated=False, **_REQUEST)

    def _url(self, path: str) -> str:
        return f"{self._trustee.auth_url}/{path}"


@contextmanager
def _refusal_explained(what: str) -> Iterator[None]:
    """Make what Keystone answers with an error of ours, in words for the user.

    Raises:
        Forbidden: it has refused.
        TransportError: it has not answered, or not as it should.
    """
    try:
        yield
    except exceptions.HttpError as error:
        if error.http_status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise errors.TransportError(reason=f"Keystone: {error.message}") from error
        raise errors.Forbidden(
            f"Your token cannot {what}: Keystone says {error.message!r}. "
            "Use one that you got by a password, with the roles that the stack needs."
        ) from error
    except exceptions.ClientException as error:
        raise errors.TransportError(reason=f"Keystone: {error}") from error

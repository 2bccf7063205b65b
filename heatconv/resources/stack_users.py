# SPDX-License-Identifier: Apache-2.0
"""Users that the service makes for single resources, and what is noted of each.

Such a *stack user* is what a server, or an alarm, speaks as.  It has one project
to itself, so that its token is good for nothing but its resource.  Whoever makes
them is handed in with the context (``heatconv.openstack.domain``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

ROLE = "heat_stack_user"  #: what stack users may do is what the policies let this role

#: The notes of a resource that tell who its user is; nobody but the service writes them.
ACCOUNT = USER_ID, PROJECT_ID = ("user_id", "stack_user_project_id")
PASSWORD, TOKEN = "password", "token"
ACCESS_KEY, SECRET_KEY, CREDENTIAL_ID = "access_key", "secret_key", "credential_id"
#: All that is noted of a user.
NOTES = frozenset({*ACCOUNT, PASSWORD, TOKEN, ACCESS_KEY, SECRET_KEY, CREDENTIAL_ID})


@dataclass(frozen=True)
class Account:
    """A stack user, by its id and that of its project."""

    id: str
    project_id: str

    @classmethod
    def of(cls, notes: Mapping[str, str]) -> Account | None:
        """Return the user of a resource by what is noted of it; None if it has none."""
        if USER_ID not in notes or PROJECT_ID not in notes:
            return None
        return cls(notes[USER_ID], notes[PROJECT_ID])


class StackUsers(Protocol):
    """Makes stack users, each under a name that no other has, and finds them again.

    Every method raises ``AuthorizationFailure`` if the administrator of the users is not let in, and
    what Keystone's client raises.

    Concurrency: whatever two workers do at the same time with the same names comes to
    one user, or to none.
    """

    auth_url: str  #: where a user gets its token
    region_name: str | None  #: where a user finds this service

    @property
    def domain_id(self) -> str:
        """The id of the domain that the users and their projects are in."""

    def make(self, name: str, project: str, password: str, about: str) -> Account:
        """Return the user of a name, in the project of a name, with this password; made if need be.

        Args:
            name: of the user.
            project: the name of its project.
            password: which it has from now on.
            about: what the user is for, in the project's description.

        Raises:
            NotFound: (Keystone's) somebody deleted the project meanwhile; nothing is left of the user.
        """

    def remove(self, name: str, project: str) -> None:
        """Delete the user of a name, the project of a name and the keys of both; none may be there."""

    def enable(self, user_id: str, *, enabled: bool) -> None:
        """Let a user in from now on, or no more."""

    def add_key(self, account: Account, access_key: str, secret_key: str) -> str:
        """Return the id of an EC2 credential of a user, made unless there is that access key."""

    def remove_key(self, credential_id: str) -> None:
        """Delete an EC2 credential; it may be gone."""

    def token(self, account: Account, password: str) -> str:
        """Return a token of a user for its project."""

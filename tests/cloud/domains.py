# SPDX-License-Identifier: Apache-2.0
"""A domain for the users of single resources, as an operator makes it, and who is in it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from heatconv.resources.stack_users import ROLE


@dataclass(frozen=True)
class Domain:
    """A domain for stack users, and Keystone's own word for who is in it."""

    identity: Any
    id: str
    options: dict[str, str]  #: of heatconv's configuration, by which it is in charge of the domain
    administrator: str

    def users(self) -> list[Any]:
        """Return the stack users."""
        found = self.identity.users(domain_id=self.id)
        return [each for each in found if each.id != self.administrator]

    def projects(self) -> list[Any]:
        """Return the projects that stack users have."""
        return list(self.identity.projects(domain_id=self.id))

    def roles(self, user: Any) -> list[tuple[str, str]]:
        """Return the names of the roles of a user, each with the project that it is in."""
        names = {each.id: each.name for each in self.identity.roles()}
        found = self.identity.role_assignments(user_id=user.id)
        return [(names[each.role["id"]], each.scope["project"]["id"]) for each in found]


@contextmanager
def domain_of_stack_users(admin: Any) -> Iterator[Domain]:
    """Make a domain, with somebody who makes users in it; in the end it goes with all who are in it."""
    name, password = f"heatconv-{secrets.token_hex(4)}", secrets.token_urlsafe()
    identity = admin.identity
    made = identity.create_domain(name=name)
    user = identity.create_user(name="maker", password=password, domain_id=made.id)
    identity.assign_domain_role_to_user(made, user, identity.find_role("admin"))
    if identity.find_role(ROLE) is None:
        identity.create_role(name=ROLE)
    options = {
        "stack_user_domain_name": name,
        "stack_domain_admin": "maker",
        "stack_domain_admin_password": password,
    }
    try:
        yield Domain(identity, made.id, options, user.id)
    finally:
        identity.update_domain(made, is_enabled=False)
        identity.delete_domain(made)

# SPDX-License-Identifier: Apache-2.0
"""The client of the object service, as services have one: for the script and for the plugin alike."""

from __future__ import annotations

from typing import Any

import requests


class NotFound(Exception):
    """There is no such object."""

    http_status = 404


class Client:
    """Sends calls by a session of its own."""

    def __init__(self, url: str) -> None:
        self._url = f"{url}/objects"
        self._session = requests.Session()
        self._session.trust_env = False  # a proxy must not come between us and loopback

    def create(self, name: str, value: str) -> Any:
        """Make an object; return it."""
        return self._ask("POST", self._url, {"name": name, "value": value})

    def get(self, object_id: str) -> Any:
        """Return an object.

        Raises:
            NotFound: it is not there.
        """
        return self._ask("GET", f"{self._url}/{object_id}")

    def delete(self, object_id: str) -> None:
        """Remove an object.

        Raises:
            NotFound: it is not there.
        """
        self._ask("DELETE", f"{self._url}/{object_id}")

    def _ask(self, method: str, url: str, body: Any = None) -> Any:
        answer = self._session.request(method, url, json=body, timeout=60)
        if answer.status_code == requests.codes.not_found:
            raise NotFound(answer.json()["message"])
        answer.raise_for_status()
        return answer.json()

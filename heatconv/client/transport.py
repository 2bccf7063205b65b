# SPDX-License-Identifier: Apache-2.0
"""Speaking HTTP to the service: requests, redirects, and a sentence for whatever goes wrong."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping, Sequence
from json import JSONDecodeError
from typing import Any
from urllib.parse import quote

import requests

from heatconv.client import long_json
from heatconv.errors import HeatconvError

Json = dict[str, Any]

_REDIRECTS = 5
_PIECE = 1 << 16  #: bytes of an answer that is read as it arrives


class ClientError(HeatconvError):
    """What the service refused, or that it could not be asked (``status`` 0)."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind


class Transport:
    """Requests to the API of one project: ``endpoint`` is like ``http://127.0.0.1:8004/v1/default``.

    ``session`` has what logs in, if anything has to (``heatconv.client.login``).
    """

    def __init__(
        self, endpoint: str, *, session: requests.Session | None = None, timeout: float = 60
    ) -> None:
        self.endpoint = endpoint.rstrip("/")
        self._timeout = timeout
        self._session = session or requests.Session()

    def close(self) -> None:
        """Close the connections kept open."""
        self._session.close()

    def locate(self, stack: str) -> str:
        """Return the canonical URL of a stack, which one that is told by NAME/ID has already."""
        if "/" in stack:
            return self._url(self._lookup(stack))
        response = self._request("GET", self._url(self._lookup(stack)))
        if "Location" not in response.headers:
            raise _error(response)
        return response.headers["Location"]

    @staticmethod
    def _lookup(stack: str) -> str:
        return f"/stacks/{quote(stack, safe='/')}"

    def _url(self, path: str) -> str:
        return path if path.startswith(("http://", "https://")) else self.endpoint + path

    def _look(self, url: str, query: Mapping[str, Any], *, wait: float = 0) -> Any:
        """Return the JSON answer to a GET of a canonical URL, which the service may keep for some seconds.

        None: the service knows no such URL.
        """
        response = self._request("GET", url, query=query, patience=wait)
        if response.status_code == requests.codes.not_found:
            return None
        if response.status_code != requests.codes.ok:
            raise _error(response)
        return _decoded(response)

    def _send(
        self, method: str, path: str, *, json: Json | None = None, query: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the JSON answer to a request, sent again as it is wherever a redirect leads."""
        response = self._answer(method, path, json=json, query=query)
        return _decoded(response) if response.content else None

    def _send_for_list(
        self,
        method: str,
        path: str,
        within: Sequence[str],
        each: Callable[[Any], None],
        *,
        json: Json | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> Json:
        """Return the answer without the long list ``within``, whose items ``each`` gets as they arrive."""
        with self._answer(method, path, json=json, query=query, stream=True) as response:
            try:
                pieces = codecs.iterdecode(response.iter_content(_PIECE), "utf-8")
                return long_json.read(pieces, within, each)
            except requests.RequestException as error:
                raise ClientError(0, "Unreachable", _unreachable(response.url, error)) from error
            except (UnicodeDecodeError, JSONDecodeError) as error:
                raise _not_json(response) from error

    def _answer(
        self,
        method: str,
        path: str,
        *,
        json: Json | None,
        query: Mapping[str, Any] | None,
        stream: bool = False,
    ) -> requests.Response:
        """Return the answer to a request that was granted."""
        response = self._request(method, self._url(path), json=json, query=query, stream=stream)
        for _ in range(_REDIRECTS):
            if response.status_code != requests.codes.found:
                break
            # The target has the query already.
            response = self._request(method, response.headers["Location"], json=json, stream=stream)
        if not 200 <= response.status_code < 300:
            raise _error(response)
        return response

    def _request(
        self,
        method: str,
        url: str,
        *,
        json: Json | None = None,
        query: Mapping[str, Any] | None = None,
        stream: bool = False,
        headers: Mapping[str, str] | None = None,
        patience: float = 0,
    ) -> requests.Response:
        """Send a request; ``patience``: seconds that the answer may take beyond what it takes else."""
        try:
            return self._session.request(
                method,
                url,
                json=json,
                params=query,
                headers=headers,
                timeout=self._timeout + patience,
                allow_redirects=False,
                stream=stream,
            )
        except requests.RequestException as error:
            raise ClientError(0, "Unreachable", _unreachable(url, error)) from error


def _unreachable(url: str, error: requests.RequestException) -> str:
    if isinstance(error, requests.Timeout):
        return f"The service at {url} did not answer in time."
    if isinstance(error, requests.ConnectionError):
        return f"The service at {url} cannot be reached: is it running, and is the endpoint right?"
    return f"The service at {url} cannot be asked: {error}."


def _decoded(response: requests.Response) -> Any:
    try:
        return response.json()
    except requests.JSONDecodeError as error:
        raise _not_json(response) from error


def _not_json(response: requests.Response) -> ClientError:
    sentence = f"What answers at {response.url} is no heatconv API: its answer is not JSON."
    return ClientError(response.status_code, "NotJson", sentence)


def _error(response: requests.Response) -> ClientError:
    answer = _decoded(response)
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict) or "message" not in error:
        sentence = f"What answers at {response.url} is no heatconv API: it answered {response.status_code}."
        return ClientError(response.status_code, "Unexpected", sentence)
    return ClientError(response.status_code, str(error.get("type")), str(error["message"]))

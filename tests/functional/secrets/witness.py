# SPDX-License-Identifier: Apache-2.0
"""Who asks an installation of heatconv, remembers every answer, and finds secrets in what is left behind."""

from __future__ import annotations

import base64
import re
import secrets
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import requests

from heatconv.api.routes import ROUTES
from tests.functional.waiting import PATIENCE, until

PIECE = 12  #: characters of a secret that give it away

Json = dict[str, Any]


@dataclass(frozen=True)
class Secret:
    """A text that nobody else says, and the calls that may answer it, such as ``GET /stacks``."""

    name: str
    text: str
    core: str  #: that part of it which is the same in every spelling but base64
    shown_by: frozenset[str] = frozenset()

    def needles(self) -> set[bytes]:
        """Return what tells of the secret wherever it is found."""
        pieces = {self.core[at : at + PIECE] for at in range(0, max(1, len(self.core) - PIECE + 1), 4)}
        spelled = pieces | {piece.upper() for piece in pieces}
        return {needle.encode() for needle in spelled} | set(_in_base64(self.core.encode()))

    def is_in(self, content: bytes) -> bool:
        """Tell whether the secret, or a good part of it, is in some content."""
        return any(needle in content for needle in self.needles())


def _in_base64(content: bytes) -> Iterator[bytes]:
    """Yield what is always the same of content in base64, whatever is before and behind it."""
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + content)
        first = -(-before * 8 // 6)
        yield coded[first : first + PIECE + 4]


class Secrets:
    """The secrets of a story, by what they are secrets of."""

    def __init__(self) -> None:
        self.all: dict[str, Secret] = {}

    def text(self, name: str, shown_by: Collection[str] = (), *, plain: bool = False) -> str:
        """Return the secret of a name, made up when it is first asked for; of letters and digits if plain."""
        if name not in self.all:
            # Digits beside signs are the same in capitals: whoever looks for pieces finds that one.
            core = secrets.token_hex(PIECE - 3) + f"{secrets.randbelow(10**6):06}"
            text = core if plain else f"{core}/\"'&+ é"
            self.all[name] = Secret(name, text, core, frozenset(shown_by))
        return self.all[name].text

    def add(self, name: str, text: str, shown_by: Collection[str] = ()) -> str:
        """Take on a secret that others made, or that has to be of some form."""
        self.all[name] = Secret(name, text, text, frozenset(shown_by))
        return text

    def found_in(self, content: str | bytes) -> list[str]:
        """Return the names of those that are in some content."""
        content = content.encode() if isinstance(content, str) else content
        return [name for name, secret in self.all.items() if secret.is_in(content)]


_PATTERNS = {
    route: re.compile("/v1/default" + re.sub(r"\{\w+\}", "[^/]+", route) + r"\Z") for route in ROUTES
}


def route_of(path: str) -> str:
    """Return the route that a path takes; of several the one with the fewest fields."""
    taken = [route for route, pattern in _PATTERNS.items() if pattern.match(path)]
    return min(taken, key=lambda route: route.count("{"))


_STACK = "/stacks/{stack_name}/{stack_id}"
_READ = [route for route, handlers in ROUTES.items() if "GET" in handlers]

#: What makes an answer say all that it can.
_QUERIES = {
    "/stacks": "?show_deleted=true&show_nested=true&show_hidden=true&with_count=true",
    f"{_STACK}/resources": "?with_detail=true&nested_depth=5",
    f"{_STACK}/resources/{{resource_name}}": "?with_attr=show&with_attr=broken",
}


@dataclass(frozen=True)
class Heard:
    """An answer: to which call, with what status, and everything it says."""

    call: str
    url: str
    status: int
    content: str


@dataclass
class Witness:
    """Asks, and remembers what is answered."""

    endpoint: str
    heard: list[Heard] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._session = requests.Session()
        self._session.trust_env = False
        self._events: set[str] = set()

    def ask(self, method: str, path: str, body: Any = None, *, status: int | None = None) -> Any:
        """Send a request; return the JSON of its answer, None if it has none."""
        url = path if path.startswith("http") else self.endpoint + path
        sent = {"data": body} if isinstance(body, bytes) else {"json": body}
        answer = self._session.request(method, url, timeout=PATIENCE, allow_redirects=False, **sent)
        called = f"{method} {route_of(urlsplit(url).path)}"
        said = f"{dict(answer.headers)}\n{answer.text}"
        self.heard.append(Heard(called, url, answer.status_code, said))
        if status is not None:
            assert answer.status_code == status, f"{called}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    # -- stacks --------------------------------------------------------------------------

    def create(self, name: str, body: Json) -> str:
        """Start to create a stack and return its path."""
        made = self.ask("POST", "/stacks", {"stack_name": name, **body}, status=201)
        return f"/stacks/{name}/{made['stack']['id']}"

    def settled(self, path: str, expected: str) -> Json:
        """Return a stack when what was begun last on it has ended, which has to be as expected."""

        def look() -> Json | None:
            stack: Json = self.ask("GET", path, status=200)["stack"]
            return None if stack["stack_status"].endswith("_IN_PROGRESS") else stack

        stack = until(look)
        assert stack["stack_status"] == expected, stack
        return stack

    # -- everything there is to read ---------------------------------------------------------

    def read_all(self, path: str) -> None:
        """Ask all that can be asked about a stack."""
        known = self._known(path)
        for route in _READ:
            if route.startswith(_STACK) and "{event_id}" not in route:
                for url in _filled_in(route, known):
                    self.ask("GET", url + _QUERIES.get(route, ""))
        for resource, event in self._new_events(path):
            self.ask("GET", f"{path}/resources/{resource}/events/{event}")

    def read_beside(self, path: str) -> None:
        """Ask all that can be asked beside a stack."""
        known = self._known(path)
        for route in _READ:
            if not route.startswith(_STACK):
                for url in _filled_in(route, known):
                    self.ask("GET", url + _QUERIES.get(route, ""))

    def _new_events(self, path: str) -> list[tuple[str, str]]:
        """Return those events, not asked about so far, of which there is more than lists tell."""
        events = (self.ask("GET", f"{path}/events?nested_depth=5") or {}).get("events", [])
        new = [each for each in events if each["id"] not in self._events]
        self._events.update(each["id"] for each in new)
        ended = [each for each in new if not each["resource_status"].endswith("_IN_PROGRESS")]
        return [(each["resource_name"], each["id"]) for each in ended]

    def _known(self, path: str) -> Mapping[str, list[str]]:
        def those(url: str, key: str, field_: str) -> list[str]:
            return [each[field_] for each in (self.ask("GET", url) or {}).get(key, ())]

        _, _, name, stack_id = path.split("/")
        deployments = self.ask("GET", "/software_deployments")["software_deployments"]
        return defaultdict(
            list,
            stack_name=[name],
            stack_id=[stack_id],
            arn_id=[stack_id],
            resource_name=those(f"{path}/resources", "resources", "resource_name"),
            output_key=those(f"{path}/outputs", "outputs", "output_key"),
            snapshot_id=those(f"{path}/snapshots", "snapshots", "id"),
            plan_id=those("/plans", "plans", "id"),
            config_id=those("/software_configs", "software_configs", "id"),
            deployment_id=[each["id"] for each in deployments],
            server_id=[each["server_id"] for each in deployments],
            type_name=["OS::Heat::RandomString", "Test::Telltale"],
            version=["heat_template_version.2018-08-31"],
        )


def _fields(route: str) -> list[str]:
    return re.findall(r"\{(\w+)\}", route)


def _filled_in(route: str, known: Mapping[str, list[str]]) -> list[str]:
    if "{arn_id}" in route:
        route = route.replace("{stack_name}/{stack_id}", "arn:openstack:heat::default:stacks/{stack_name}")
    urls = [route]
    for name in dict.fromkeys(_fields(route)):
        urls = [url.replace(f"{{{name}}}", value) for url in urls for value in known[name]]
    return urls

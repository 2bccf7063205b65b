# SPDX-License-Identifier: Apache-2.0
"""How far an action of one of Heat's plugins is, as it can be saved.

What such a plugin's ``handle_<action>`` returns may hold objects of
``heat.engine.clients.progress``: a few attributes, which each look may change.
They are saved as the name of their class and their attributes, and made again
of these for each look, be it by the worker that began or by the next.
"""

from __future__ import annotations

import importlib
from typing import Any

from heatconv.resources.driver import PluginDriver

MODULE = "heat.engine.clients.progress"
_TOKEN = MODULE  #: which no plugin has for a key
_CLASS, _ATTRIBUTES = "class", "attributes"


class SavingDriver(PluginDriver):
    """Drives plugins whose tokens can be saved if what they hold is JSON, or progress that JSON tells."""

    def start(self, action: str, *args: Any) -> Any:
        """Start an action and return its token, with what JSON tells in place of progress."""
        return saved(super().start(action, *args))

    def is_complete(self, action: str, token: Any) -> bool:
        """Tell whether an action is at its end; the token is changed into how far it is now."""
        if not _is_saved(token):
            return super().is_complete(action, token)
        live = restored(token)
        try:
            return super().is_complete(action, live)
        finally:
            token[_TOKEN] = _as_json(live)

    def cancel(self, action: str, token: Any) -> None:
        """Tell the plugin that nobody waits for an action any more."""
        super().cancel(action, restored(token))


def saved(token: Any) -> Any:
    """Return a token as JSON tells it if there is progress in it; any other one itself."""
    return {_TOKEN: _as_json(token)} if _has_progress(token) else token


def restored(token: Any) -> Any:
    """Return the token that ``saved`` returned ``token`` for."""
    return _made(token[_TOKEN]) if _is_saved(token) else token


def _is_saved(token: Any) -> bool:
    return isinstance(token, dict) and token.keys() == {_TOKEN}


def _is_progress(part: Any) -> bool:
    return type(part).__module__ == MODULE


def _has_progress(token: Any) -> bool:
    if isinstance(token, dict):
        token = token.values()
    elif not isinstance(token, list | tuple):
        return _is_progress(token)
    return any(map(_has_progress, token))


def _as_json(part: Any) -> Any:
    """Return part of a token with maps in place of progress; maps of its own are marked as such."""
    if _is_progress(part):
        return {_CLASS: type(part).__name__, _ATTRIBUTES: _as_json(vars(part))}
    if type(part) is dict:
        return {_CLASS: None, _ATTRIBUTES: {key: _as_json(each) for key, each in part.items()}}
    if type(part) in (list, tuple):
        return type(part)(_as_json(each) for each in part)
    return part


def _made(part: Any) -> Any:
    """Return the part of a token that ``_as_json`` made."""
    if isinstance(part, list | tuple):
        return type(part)(_made(each) for each in part)
    if type(part) is not dict:
        return part
    kind, attributes = part[_CLASS], part[_ATTRIBUTES]
    if kind is None:
        return {key: _made(each) for key, each in attributes.items()}
    class_ = getattr(importlib.import_module(MODULE), kind)
    progress = class_.__new__(class_)
    vars(progress).update(_made(attributes))
    return progress

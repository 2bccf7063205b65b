# SPDX-License-Identifier: Apache-2.0
"""The stories of ``stories.yaml``, as those in ``tests/functional/api``, in one process and in many."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
import requests
import yaml

from tests.functional.api.test_stories import filled, take

STORIES = [
    pytest.param(story["steps"], id=story["story"])
    for story in yaml.safe_load_all((Path(__file__).parent / "stories.yaml").read_text())
]


def play(endpoint, steps):
    names = {"name": f"software-{uuid.uuid4().hex[:8]}"}
    with requests.Session() as session:
        for step in steps:
            take(session, endpoint, filled(step, names), names)


@pytest.mark.parametrize("steps", STORIES)
def test_story(endpoint, steps):
    play(endpoint, steps)


def test_stories_where_each_process_is_another(run_daemons, fresh_database, rabbit_url):
    daemons = run_daemons(
        database_url=fresh_database("postgresql"), transport_url=rabbit_url, engines=2, workers=2
    )
    for story in STORIES:
        play(daemons.endpoint, *story.values)

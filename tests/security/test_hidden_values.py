# SPDX-License-Identifier: Apache-2.0
"""What hides secrets could be given so many of them that the process ended.

A hidden parameter of 200,000 characters cost 180 MB, kept for the next time: with
some of those all memory was gone.  One of thousands of short items became a regular
expression with as many alternatives, and nobody else ran while a text was held against it.
"""

from __future__ import annotations

import random
import string

import pytest

from tests.security.attacked import attacked

ROOM = 600 << 20  #: bytes that a process may come to take


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with attacked(tmp_path_factory.mktemp("hidden")) as running:
        yield running
        assert running.most_memory() < ROOM


def hot(type_, text):
    replaced = {"str_replace": {"template": "a b", "params": {"a": {"get_param": "p"}, "b": text}}}
    return {
        "heat_template_version": "2021-04-16",
        "parameters": {"p": {"type": type_, "hidden": True}},
        "resources": {"R": {"type": "OS::Heat::Value", "properties": {"value": replaced}}},
    }


def made_up(count, *, seed):
    return "".join(random.Random(seed).choices(string.ascii_letters + string.digits, k=count))


def test_long_secrets_take_no_memory_to_keep(service):
    for seed in range(20):
        parameters = {"parameters": {"p": made_up(200_000, seed=seed)}}
        answer = service.preview(hot("string", "b"), environment=parameters)
        assert answer.status_code == 200, answer.text
        assert parameters["parameters"]["p"][:1000] not in answer.text
    service.assert_well()


def test_many_short_secrets_hold_up_nobody(service):
    words = [made_up(6, seed=number) for number in range(40_000)]
    template = hot("comma_delimited_list", made_up(100_000, seed=0))

    answer = service.preview(template, environment={"parameters": {"p": ",".join(words)}})

    assert answer.status_code == 200, answer.text
    assert words[7] not in answer.text
    service.assert_well()


def test_files_are_shown_in_no_time_whatever_is_hidden(service):
    words = ",".join(made_up(6, seed=number) for number in range(40_000))
    body = {
        "stack_name": "hiding",
        "template": hot("comma_delimited_list", "b"),
        "environment": {"parameters": {"p": words}},
        "files": {"large": "- a: b\n" * 60_000},
    }
    service.post("/stacks", body).raise_for_status()
    assert service.settled("hiding")[0] == "CREATE_COMPLETE"

    answer = service.ask("GET", f"/stacks/hiding/{service.id_of('hiding')}/files")

    assert answer.status_code == 200, answer.text
    service.assert_well()

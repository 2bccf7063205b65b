# SPDX-License-Identifier: Apache-2.0
"""The oracle finds whatever is not as a template says."""

from __future__ import annotations

import pytest

from heatconv.testing.cloud import Cloud
from heatconv.testing.templates import SERVER, SNAPSHOT, STEPS, Template, attr, differences, thing

WANTED = Template(A=thing("a"), B=thing(attr("A"), flavor="large", uses=["A"]))


@pytest.fixture
def cloud():
    return Cloud(clock=None)


def make(cloud, name, value="", flavor="small", uses=(), *, wait=None, kind=SERVER, **more):
    properties = {"value": value, "flavor": flavor, "uses": list(uses), **more}
    return cloud.create(f"web-{name}", kind, f"web/{name}", properties, wait=wait)["id"]


def good(cloud):
    used = make(cloud, "A", "a")
    return used, make(cloud, "B", "a", "large", [used])


def test_reality_as_wanted_is_no_difference(cloud):
    good(cloud)
    assert differences(WANTED, cloud.owned()) == []


def test_nothing_wanted_and_nothing_there_is_no_difference():
    assert differences(Template(), []) == []


def test_snapshots_are_kept_by_stacks_that_have_something(cloud):
    good(cloud)
    make(cloud, "A", "old", kind=SNAPSHOT)
    assert differences(WANTED, cloud.owned()) == []
    assert "A exists 2 times, wanted 0" in differences(Template(), cloud.owned())


def test_what_is_missing_twice_there_or_not_wanted_is_told(cloud):
    make(cloud, "B")
    make(cloud, "B")
    make(cloud, "Z")
    assert differences(WANTED, cloud.owned()) == [
        "A exists 0 times, wanted 1",
        "B exists 2 times, wanted 1",
        "Z exists 1 times, wanted 0",
    ]


@pytest.mark.parametrize(
    ("change", "key"),
    [({"value": "other"}, "value"), ({"flavor": "small"}, "flavor"), ({"uses": []}, "uses")],
)
def test_a_property_that_differs_is_told(cloud, change, key):
    _, user = good(cloud)
    cloud.meddle(user, change)
    assert [problem.split(" is ")[0] for problem in differences(WANTED, cloud.owned())] == [f"B: {key}"]


def test_a_reference_to_an_earlier_incarnation_is_told(cloud):
    old, user = good(cloud)
    cloud.vanish(old)
    new = make(cloud, "A", "a")
    assert differences(WANTED, cloud.owned()) == [f"B: uses is {[old]!r}, wanted {[new]!r}"]
    cloud.meddle(user, {"uses": [new]})
    assert differences(WANTED, cloud.owned()) == []


def test_an_attribute_means_its_live_value(cloud):
    used, user = good(cloud)
    cloud.meddle(used, {"value": "b"})
    assert differences(WANTED.but(A=thing("b")), cloud.owned()) == ["B: value is 'a', wanted 'b'"]
    by_id = Template(A=thing("b"), B=thing(attr("A", "id"), flavor="large", uses=["A"]))
    cloud.meddle(user, {"value": used})
    assert differences(by_id, cloud.owned()) == []


def test_an_object_not_active_or_of_another_kind_is_told(cloud):
    make(cloud, "A", "a", wait=9, kind=STEPS, stage="started")
    assert differences(Template(A=thing("a")), cloud.owned()) == [
        "A: status is 'BUILD', wanted 'ACTIVE'",
        f"A: kind is '{STEPS}', wanted '{SERVER}'",
    ]


def test_an_object_made_in_steps_must_have_taken_the_last(cloud):
    made = make(cloud, "A", kind=STEPS, stage="attached")
    assert len(differences(Template(A=thing(type=STEPS)), cloud.owned())) == 1
    cloud.meddle(made, {"stage": "started"})
    assert differences(Template(A=thing(type=STEPS)), cloud.owned()) == []


def test_a_template_becomes_hot():
    assert WANTED.but(C=thing(depends_on=["B"], wait=2)).without("A").hot()["resources"] == {
        "B": {
            "type": SERVER,
            "properties": {
                "value": {"get_attr": ["A", "value"]},
                "flavor": "large",
                "uses": [{"get_resource": "A"}],
            },
        },
        "C": {
            "type": SERVER,
            "properties": {"value": "", "flavor": "small", "wait": 2},
            "depends_on": ["B"],
        },
    }

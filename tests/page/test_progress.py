# SPDX-License-Identifier: Apache-2.0
"""How far a stack is, and how long the rest should take."""

from __future__ import annotations

import re

from heatconv.testing.templates import Template, thing
from tests.page.shop import create, stack_page, until

CHAIN = Template(
    a=thing("1"),
    b=thing("2", depends_on=["a"]),
    c=thing("3", depends_on=["b"]),
    d=thing("4", depends_on=["c"]),
)


def test_i_want_to_know_whether_there_is_time_for_coffee(page, client, cloud):
    cloud.hold_after(1)
    create(client, "shop", CHAIN)
    stack_page(page, client, "shop")
    page.see("1 of 4 steps", ".title")
    page.see("Why is it not done?", ".why-box")
    assert "left" not in page.read(".title"), "one step is too little to go by"

    cloud.hold_after(1)
    page.see("2 of 4 steps", ".title")
    page.see("left", ".title")
    left = re.search(r"about (\d+) sec left", page.read(".title"))
    assert left, page.read(".title")
    assert int(left[1]) >= 2
    page.keep("time-left")
    page.open()
    page.see("2 of 4 steps", "tbody")
    page.see("left", "tbody")
    # The rest takes longer than it should have, as when it is stuck.
    page.wait(lambda: "left" not in page.read("tbody"), "nothing is to be said that is known to be wrong")

    cloud.release()
    until(page, client, "shop", "CREATE_COMPLETE")
    page.see("create complete", "tbody")
    assert "left" not in page.read("tbody")

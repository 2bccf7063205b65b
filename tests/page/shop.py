# SPDX-License-Identifier: Apache-2.0
"""What the stories are about: a shop, and how a stack of it comes about."""

from __future__ import annotations

from heatconv.testing.templates import Template, thing

LONG = 600.0  #: seconds of an operation that does not end while a test looks

SHOP = Template(
    network=thing("10.0.0.0/24"),
    database=thing("db", depends_on=["network"]),
    web=thing("w", depends_on=["network", "database"]),
)

YAML = """\
heat_template_version: 2021-04-16
description: A shop.
resources:
  network:
    type: Fake::Cloud::Server
    properties: {value: 10.0.0.0/24}
  web:
    type: Fake::Cloud::Server
    depends_on: network
    properties: {value: w}
outputs:
  address:
    description: where it is
    value: {get_attr: [web, value]}
"""


def create(client, name, template, **more):
    hot = template.hot() if isinstance(template, Template) else template
    client.create_stack({"stack_name": name, "template": hot, **more})


def until(page, client, name, state):
    page.wait(lambda: client.show_stack(name)["stack_status"] == state, f"{name} is to be {state}")


def stack_page(page, client, name, *more):
    stack = client.show_stack(name)
    page.open("stacks", name, stack["id"], *more)
    page.see(name, "h1")

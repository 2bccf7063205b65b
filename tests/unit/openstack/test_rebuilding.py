# SPDX-License-Identifier: Apache-2.0
"""A rebuild for other user data is one from the image that the server has, with these data."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from heatconv.openstack.mended.rebuilding import Server, takes_user_data

CONFIG = "0f6f0d3e-3c5e-4c1b-9f0a-5a8d2d1f7c11"


class Nova:
    """As much of the plugin of Nova's client as a rebuild takes."""

    def __init__(self, server):
        self.server = server

    def fetch_server(self, _server_id):
        return self.server

    def rebuild(self, _server_id, image_id, **kwargs):
        return image_id, kwargs


@pytest.fixture
def nova():
    """Return a function that makes a mended plugin of a server."""
    mended = type("Mended", (Nova,), {})
    takes_user_data(mended)
    return mended


def test_nova_is_given_user_data(nova):
    asked = []
    server = SimpleNamespace(rebuild=lambda image, **kwargs: asked.append((image, kwargs)))
    assert nova(server).rebuild("it", "image", user_data="#!/bin/sh") is True
    assert asked == [("image", {"userdata": "#!/bin/sh"})]


def test_nova_is_asked_again_when_it_shows_the_server(nova):
    assert nova(None).rebuild("it", "image", user_data="#!/bin/sh") is False


def test_any_other_rebuild_is_heats(nova):
    assert nova(None).rebuild("it", "image", password="p", files={}) == (
        "image",
        {"password": "p", "files": {}},
    )


class Plain:
    """As much of Heat's server as an update of its user data takes."""

    def _update_user_data_rebuild(self, after_props):
        return SimpleNamespace(handler_args=("server", after_props["user_data"]), handler_kwargs={})


class Mended(Server, Plain):
    """A server that builds user data of two things that are seen."""

    resource_id = "server"

    def __init__(self):
        pass

    def metadata_get(self, *_args, **_kwargs):
        return {}

    def client_plugin(self, *_args, **_kwargs):
        def build_userdata(_metadata, content, user_data_format):
            return f"{user_data_format} of {content}"

        return SimpleNamespace(build_userdata=build_userdata)

    def get_software_config(self, config):
        return f"what is in {config}"


@pytest.mark.parametrize(
    ("content", "form", "built"),
    [
        ("true", "RAW", "RAW of true"),
        (CONFIG, "RAW", f"RAW of what is in {CONFIG}"),
        (CONFIG, "HEAT_CFNTOOLS", f"HEAT_CFNTOOLS of {CONFIG}"),
    ],
)
def test_the_image_stays(content, form, built):
    wanted = {"image": "image", "user_data": content, "user_data_format": form}
    progress = Mended()._update_user_data_rebuild(wanted)
    assert progress.handler_args == ("server", "image")
    assert progress.handler_kwargs == {"user_data": built}

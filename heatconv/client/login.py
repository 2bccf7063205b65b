# SPDX-License-Identifier: Apache-2.0
"""Where the service is and who asks: ``clouds.yaml``, ``OS_*`` variables, or just an endpoint.

A cloud's endpoint is what its catalog has for *orchestration*, unless
``orchestration_endpoint_override`` or the caller names another.
"""

from __future__ import annotations

import os
from typing import Any

import requests
from requests.auth import AuthBase

from heatconv.client.http import Client
from heatconv.errors import UserError

DEFAULT_ENDPOINT = "http://127.0.0.1:8004/v1/default"

#: Any of them says that there is a cloud to log in to.
_VARIABLES = ("OS_CLOUD", "OS_AUTH_URL", "OS_AUTH_TYPE")


class _Token(AuthBase):
    """The headers of a login, made anew before it expires."""

    def __init__(self, login: Any) -> None:
        self._login = login

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers.update(self._login.get_auth_headers() or {})
        return request


def connect(endpoint: str | None = None, cloud: str | None = None) -> Client:
    """Return a client of an endpoint, logged in to a cloud if one is named here or by the environment.

    Raises:
        UserError: the cloud is not described, lets nobody in, or offers no orchestration.
    """
    if not (cloud or any(os.environ.get(name) for name in _VARIABLES)):
        return Client(endpoint or DEFAULT_ENDPOINT)
    # They take half a second to import, which whoever does not log in should not wait for.
    from keystoneauth1.exceptions import ClientException  # noqa: PLC0415
    from openstack.config import OpenStackConfig  # noqa: PLC0415
    from openstack.exceptions import ConfigException  # noqa: PLC0415

    try:
        region = OpenStackConfig().get_one(cloud=cloud)
        login = region.get_session()
        endpoint = endpoint or region.get_session_endpoint("orchestration")
        session = requests.Session()
        session.auth = _Token(login)
        session.verify, session.cert = login.verify, login.cert
        login.get_auth_headers()
    except (ClientException, ConfigException) as error:
        raise UserError(f"The cloud cannot be logged in to: {str(error).rstrip('.')}.") from error
    if not endpoint:
        raise UserError(
            "The cloud's catalog has no service of type orchestration: register it there, "
            "or say where it is with --endpoint."
        )
    return Client(endpoint, session=session)

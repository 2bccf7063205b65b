# SPDX-License-Identifier: Apache-2.0
"""What a cloud's services answer is counted by type of service, and by status."""

from __future__ import annotations

import pytest
import requests
from keystoneauth1.exceptions import ConnectFailure, HttpError
from requests.adapters import BaseAdapter

from heatconv.metrics import declared, instruments
from heatconv.openstack.session import CountedSession

URL = "http://cloud.example.org/of-a-user"


class Service(BaseAdapter):
    """Answers by the status that it is to have, or not at all."""

    status: int | None = 200

    def send(self, request, *_arguments, **_options):
        if self.status is None:
            raise requests.ConnectionError
        answer = requests.Response()
        answer.status_code, answer.request, answer.url = self.status, request, request.url
        answer.raw = None
        answer._content = b""
        return answer

    def close(self):
        pass


@pytest.fixture
def service():
    return Service()


@pytest.fixture
def session(service):
    transport = requests.Session()
    transport.mount("http://", service)
    return CountedSession(session=transport)


@pytest.fixture
def counted():
    registry = instruments.switch_on(declared.ALL)

    def of(**labels):
        return registry.get_sample_value("heatconv_service_calls_total", labels) or 0

    return of


@pytest.mark.parametrize(
    "named", [("compute", "compute"), ("volumev3", "block-storage"), ("of-a-user", "other"), (None, "other")]
)
@pytest.mark.parametrize("answered", [(204, "204"), (429, "429"), (599, "other"), (None, "none")])
def test_a_call_counts_by_its_service_and_its_answer(service, session, counted, named, answered):
    (asked, label), (status, counts_as) = named, answered
    service.status = status
    before = counted(service=label, method="GET", status=counts_as)
    options = {"endpoint_filter": {"service_type": asked}} if asked else {}

    if status == 204:
        session.get(URL, authenticated=False, **options)
    else:
        with pytest.raises((HttpError, ConnectFailure)):
            session.get(URL, authenticated=False, connect_retries=0, **options)

    assert counted(service=label, method="GET", status=counts_as) == before + 1

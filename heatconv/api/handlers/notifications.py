# SPDX-License-Identifier: Apache-2.0
"""What others know to have happened to things."""

from __future__ import annotations

from http import HTTPStatus

from heatconv.api.call import Answer, Call
from heatconv.api.contract import takes
from heatconv.api.schemas import notifications as schemas


@takes(query=schemas.NOTIFY, body=schemas.CHANGED, answers=HTTPStatus.ACCEPTED)
def create(call: Call) -> Answer:
    """Have things looked at soon that something has happened to; tell how many are known."""
    taken_up = call.engine.note_change(
        call.context, call.body["physical_ids"], all_projects=call.query["global_tenant"]
    )
    return Answer({"taken_up": taken_up}, HTTPStatus.ACCEPTED)

# SPDX-License-Identifier: Apache-2.0
"""What a plan says of resources, as it is found."""

from __future__ import annotations

from heatconv.model.unknown import Place
from heatconv.plans.forecast import Act, Forecast
from heatconv.plans.inside import Branch


class Said:
    """Collects for one plan."""

    def __init__(self) -> None:
        self.forecasts: list[Forecast] = []
        #: what is wanted, once it is known why something is done to it
        self.touched: dict[Place, Forecast] = {}
        self.untouched = 0
        self.made_up: set[Place] = set()  #: the places in it whose last name is made up when they are made

    def add(self, branch: Branch, forecast: Forecast) -> None:
        """Take down what is said of a resource; of nothing at all it is only counted."""
        forecast.tags = branch.tags
        name = forecast.place[-1]
        if name in branch.made_up.values():
            self.made_up.add(forecast.place)
        if branch.doubt and forecast.act is not Act.NOTHING:
            forecast.certain = False
            forecast.hangs_on |= branch.doubt
        if forecast.act is Act.NOTHING and not forecast.may:
            self.untouched += 1
        else:
            self.forecasts.append(forecast)

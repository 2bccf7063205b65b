# SPDX-License-Identifier: Apache-2.0
"""Read what daemons serve, as Prometheus does."""

from __future__ import annotations

import requests
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample


def get(url: str) -> requests.Response:
    """Return the answer at an address."""
    with requests.Session() as session:
        session.trust_env = False  # a proxy must not come between us and loopback
        return session.get(url, timeout=30)


class Scraped:
    """The figures at some addresses, at one moment."""

    def __init__(self, *urls: str) -> None:
        texts = [get(f"{url}/metrics").text for url in urls]
        self.text = "\n".join(texts)
        self._samples: list[Sample] = [
            sample
            for text in texts
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        ]

    def of(self, metric: str, **labels: str) -> list[float]:
        """Return the values of the series of a metric that have these labels."""
        return [
            sample.value
            for sample in self._samples
            if sample.name == metric and labels.items() <= sample.labels.items()
        ]

    def total(self, metric: str, **labels: str) -> float:
        """Return their sum."""
        return sum(self.of(metric, **labels))

    def values(self, metric: str, label: str) -> set[str]:
        """Return which values a label of a metric has."""
        return {sample.labels[label] for sample in self._samples if sample.name == metric}

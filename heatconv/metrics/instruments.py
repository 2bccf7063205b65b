# SPDX-License-Identifier: Apache-2.0
"""Counters, gauges and histograms, which do nothing until they are switched on.

The labels of each are said with it, and every value of a label comes from the code or from what
the operator has installed: never from a user, of whom there may be any number.

Concurrency: safe between threads.  A process has its figures for itself.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

_DECLARED: list[Instrument] = []


class Instrument(ABC):
    """One metric."""

    kind: ClassVar[str]

    def __init__(self, name: str, meaning: str, labels: Sequence[str] = ()) -> None:
        """Declare it.

        Args:
            name: as Prometheus knows it, with the unit at its end.
            meaning: one line.
            labels: their names.
        """
        self.name = name
        self.meaning = meaning
        self.labels = tuple(labels)
        self._series: Any = None  #: prometheus_client's; None as long as metrics are off
        self._labelled: dict[tuple[object, ...], Any] = {}  #: its parts by their labels: to ask it is dear
        _DECLARED.append(self)

    def begin(self, registry: Any) -> None:
        """Count from now on."""
        self._series = self._made(registry)
        self._labelled.clear()

    @abstractmethod
    def _made(self, registry: Any) -> Any:
        """Return what prometheus_client has for it."""

    def _of(self, labels: dict[str, object]) -> Any:
        if not labels:
            return self._series
        values = tuple([labels[name] for name in self.labels])
        found = self._labelled.get(values)
        if found is None:
            found = self._labelled[values] = self._series.labels(*values)
        return found


class Counter(Instrument):
    """How often something has happened since the process began."""

    kind = "counter"

    def add(self, amount: float = 1, /, **labels: object) -> None:
        """Count something that has happened."""
        if self._series is not None:
            self._of(labels).inc(amount)

    def _made(self, registry: Any) -> Any:
        from prometheus_client import Counter  # noqa: PLC0415 - slow, and for nothing where metrics are off

        return Counter(self.name, self.meaning, self.labels, registry=registry)


class Gauge(Instrument):
    """How much there is of something now; it is shown as long as that is known.

    Concurrency: one thread sets it, or forgets it.
    """

    kind = "gauge"

    def __init__(self, name: str, meaning: str, labels: Sequence[str] = ()) -> None:
        """Declare it, see the base."""
        super().__init__(name, meaning, labels)
        self._registry: Any = None
        self._read: Callable[[], float] | None = None
        self._shown = False

    def set(self, value: float, /, **labels: object) -> None:
        """Say how much there is."""
        if self._series is not None:
            self._of(labels).set(value)
            self._show()

    def forget(self) -> None:
        """Say that it is not known any more."""
        if self._shown:
            self._registry.unregister(self._series)
            self._shown = False
            if self.labels:
                self._series.clear()
                self._labelled.clear()

    def read_by(self, read: Callable[[], float]) -> None:
        """Have it read when it is asked for."""
        self._read = read
        if self._series is not None:
            self._series.set_function(read)
            self._show()

    def _made(self, registry: Any) -> Any:
        from prometheus_client import Gauge  # noqa: PLC0415 - as above

        self._registry = registry
        return Gauge(self.name, self.meaning, self.labels, registry=None)

    def begin(self, registry: Any) -> None:
        """Show it from now on, see the base."""
        super().begin(registry)
        if self._read is not None:
            self.read_by(self._read)

    def _show(self) -> None:
        if not self._shown:
            self._registry.register(self._series)
            self._shown = True


class Histogram(Instrument):
    """How something was spread: seconds, or numbers of things."""

    kind = "histogram"

    def __init__(
        self, name: str, meaning: str, labels: Sequence[str] = (), *, buckets: Sequence[float]
    ) -> None:
        """Declare it, see the base; ``buckets``: up to where each reaches."""
        super().__init__(name, meaning, labels)
        self._buckets = buckets

    def observe(self, value: float, /, **labels: object) -> None:
        """Note one value."""
        if self._series is not None:
            self._of(labels).observe(value)

    def _made(self, registry: Any) -> Any:
        from prometheus_client import Histogram  # noqa: PLC0415 - as above

        return Histogram(self.name, self.meaning, self.labels, registry=registry, buckets=self._buckets)


_registries: list[Any] = []


def is_on() -> bool:
    """Tell whether this process counts."""
    return bool(_registries)


def switch_on(instruments: Sequence[Instrument]) -> Any:
    """Count with these from now on; return prometheus_client's registry, which is the same each time."""
    if not _registries:
        import prometheus_client as prometheus  # noqa: PLC0415 - as above

        prometheus.disable_created_metrics()  # type: ignore[no-untyped-call]  # it has no types
        registry = prometheus.CollectorRegistry()
        prometheus.ProcessCollector(registry=registry)
        prometheus.PlatformCollector(registry=registry)
        for instrument in instruments:
            instrument.begin(registry)
        _registries.append(registry)
    return _registries[0]


def declared() -> Sequence[Instrument]:
    """Return every metric there is, in the order in which they are declared."""
    return tuple(_DECLARED)

# SPDX-License-Identifier: Apache-2.0
"""Print the statements, commits and messages that a resource costs, for stacks of several sizes.

python -m tests.perf.count --database URL --transport URL [--sizes 100,1000,3000]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from tests.perf.counting import CONTEXT, Heatconv


def wide(size: int, first: str = "x") -> dict[str, Any]:
    """Return a template of independent resources, the first with a value of its own."""
    return {
        "heat_template_version": "2021-04-16",
        "resources": {
            f"r{number}": {
                "type": "OS::Heat::TestResource",
                "properties": {"value": first if number == 0 else "x"},
            }
            for number in range(size)
        },
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--database", required=True)
    parser.add_argument("--transport", required=True)
    parser.add_argument("--sizes", default="100,1000,3000")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=32, help="with one nobody shares a transaction")
    arguments = parser.parse_args()
    fleet = {"workers": arguments.workers, "threads": arguments.threads}
    heatconv = Heatconv(arguments.database, arguments.transport, **fleet)
    print(f"{'operation':<10}{'n':>6}{'seconds':>9}{'statements':>12}{'commits':>9}{'messages':>10}")
    try:
        for size in map(int, arguments.sizes.split(",")):
            _measure_size(heatconv, size)
    finally:
        heatconv.close()


def _measure_size(heatconv: Heatconv, size: int) -> None:
    name = f"count-{size}"
    source = {"template": wide(size)}
    changed = {"template": wide(size, "y")}
    client = heatconv.client
    ids: list[str] = []

    def create() -> str:
        ids.append(client.create_stack(CONTEXT, name, source, {}))
        return ids[0]

    def update(wanted: dict[str, Any]) -> Callable[[], str]:
        def request() -> str:
            client.update_stack(CONTEXT, name, wanted, {})
            return ids[0]

        return request

    def delete() -> str:
        client.delete_stack(CONTEXT, name)
        return ids[0]

    _print("create", size, size, *heatconv.measure(create))
    # Daemons heartbeat in between: what a few statements take is the least of three times.
    nothing = [heatconv.measure(update(source)) for _ in range(3)]
    _print("no-op", size, 1, *min(nothing, key=_statements))
    one = [heatconv.measure(update(wanted)) for wanted in (changed, source, changed)]
    _print("change 1", size, 1, *min(one, key=_statements))
    _print("delete", size, size, *heatconv.measure(delete))


def _statements(measured: tuple[float, Any]) -> int:
    return int(measured[1]["statements"])


def _print(operation: str, size: int, per: int, seconds: float, counts: Any) -> None:
    each = [counts[what] / per for what in ("statements", "commits", "messages")]
    unit = "each" if per > 1 else "in all"
    print(
        f"{operation:<10}{size:>6}{seconds:>9.2f}{each[0]:>12.3f}{each[1]:>9.3f}{each[2]:>10.3f}  {unit}",
        flush=True,
    )


if __name__ == "__main__":
    main()

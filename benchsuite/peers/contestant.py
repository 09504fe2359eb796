"""The conversation with the runner: one line of JSON when ready, then one per repetition.

A peer prepares its data, then calls `serve` with the work that is timed and an inspection of the
result that is not.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from importlib.metadata import version

# Short work is repeated for this long, and the fastest call counts: a single call of a millisecond
# would measure cold caches and sleeping threads. The engine does the same.
ENOUGH = 0.2

THREADS = int(os.environ.get("OMP_NUM_THREADS", "1"))


def arguments(*positional: str, **options: type | str) -> argparse.Namespace:
    """Each option is given as its type, or as its default."""
    parser = argparse.ArgumentParser()
    for name in positional:
        parser.add_argument(name)
    for name, kind in options.items():
        if isinstance(kind, type):
            parser.add_argument("--" + name, type=kind, required=True)
        else:
            parser.add_argument("--" + name, default=kind)
    return parser.parse_args()


def serve(work, inspect, packages: list[str], threads: int = THREADS) -> None:
    """`inspect` turns the result of `work` into the check, or into several parts of the reply."""
    serve_measured(lambda: fastest(work), inspect, packages, threads)


def serve_measured(measure, inspect, packages: list[str], threads: int = THREADS) -> None:
    """As `serve`, for work that is to be timed in a way of its own: `measure` returns the seconds,
    how often the work was done, and the result."""
    say({"ready": {"threads": threads, "versions": {name: version(name) for name in packages}}})
    for line in sys.stdin:
        if line.strip() == "quit":
            return
        seconds, calls, result = measure()
        say({"seconds": seconds, "calls": calls, **inspect(result)})


def fastest(work):
    best, spent, calls = float("inf"), 0.0, 0
    while True:
        start = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - start
        best, spent, calls = min(best, seconds), spent + seconds, calls + 1
        if spent >= ENOUGH:
            return best, calls, result
        del result


def say(message: dict) -> None:
    print(json.dumps(message), flush=True)

"""Machines that share the propagation of a large graph: two workers of one thread each against one, and a worker that is killed.

    python -m cluster --size 1m                                  (in benchsuite/, with gfgcn[ray] installed)

The machines are nodes of a Ray cluster on this one, with a processor each, so it needs two cores that nobody else uses. What is measured is
the time in which the shares of a fit are computed, from the first that is handed out to the last that is fetched: one worker and
two in turns, --repeats times, on stores that are open. Then a fit in which a worker is killed half-way. Every model must be,
to the byte, the one of gfgcn fit. Everything is made in --folder and removed at the end, unless --keep.
"""

from __future__ import annotations

import argparse
import datetime
import json
import pathlib
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from beyond.__main__ import SIZES  # noqa: E402
from runner import machine  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(prog="cluster", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "target" / "cluster")
    parser.add_argument("--keep", action="store_true", help="leave the store and the models where they are")
    parser.add_argument("--output", type=pathlib.Path, help="JSON file to write")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    store = options.folder / f"{options.size}.store"
    try:
        if not store.exists():
            shape = [str(part) for name, value in SIZES[options.size].items() for part in (f"--{name}", value)]
            gfgcn("data", "synth", "-o", store, *shape)
        alone = options.folder / "alone.model"
        fit = ["--public-split", "--model", "gfsgc", "--depth", 4, "--device", "cpu", "--force"]
        gfgcn("fit", store, *fit, "-o", alone)
        report = {
            "date": datetime.date.today().isoformat(),
            "machine": machine.describe(ROOT),
            "size": {"name": options.size, **SIZES[options.size]},
            **measured(store, alone, options.repeats),
        }
    finally:
        if not options.keep:
            shutil.rmtree(options.folder)
    text = json.dumps(report, indent=2)
    if options.output:
        options.output.write_text(text + "\n")
    print(text)


def measured(store: pathlib.Path, alone: pathlib.Path, repeats: int) -> dict[str, object]:
    """Seconds of one worker and of two, in turns; and a kill."""
    one, two = Workers(1), Workers(2)
    try:
        for workers in (one, two):
            workers.fit(store, alone)  # stores are opened
        seconds: dict[str, list[float]] = {"one": [], "two": []}
        for _ in range(repeats):
            seconds["one"].append(one.fit(store, alone))
            seconds["two"].append(two.fit(store, alone))
    finally:
        one.end()
        two.end()
    middle = {name: statistics.median(all_of) for name, all_of in seconds.items()}
    three = Workers(3)
    try:
        three.fit(store, alone)
        usual = three.fit(store, alone)
        killed = three.fit(store, alone, kill_after=usual / 2)
    finally:
        three.end()
    return {
        "seconds": seconds,
        "speedup": round(middle["one"] / middle["two"], 3),
        "kill": {"of_three_workers": 1, "seconds": killed, "without": usual, "same_bytes": True},
    }


class Workers:
    """A cluster of nodes with one processor each, and a driver of its own, so that workers stay what they are from fit to fit."""

    def __init__(self, count: int) -> None:
        command = [sys.executable, str(pathlib.Path(__file__).with_name("driver.py")), str(count)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def fit(self, store: pathlib.Path, alone: pathlib.Path, kill_after: float | None = None) -> float:
        """Fits, and returns how long the shares took. The model must be the one that is there already."""
        target = alone.with_name("shared.model")
        assert self.process.stdin is not None and self.process.stdout is not None
        print(json.dumps([str(store), str(target), kill_after]), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"the driver ended with {self.process.wait()}")
        seconds = float(answer)
        print(f"  {seconds:.2f} s", file=sys.stderr)
        if target.read_bytes() != alone.read_bytes():
            raise SystemExit("the model of the cluster is not the one of gfgcn fit")
        return seconds

    def end(self) -> None:
        """Takes the cluster down."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def gfgcn(*arguments: object) -> None:
    command = [sys.executable, "-m", "gfgcn", *map(str, arguments), "--quiet"]
    print("$ gfgcn", *command[3:], file=sys.stderr)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()

"""Contestants on one size after the other, each with its time and its peak memory."""

from __future__ import annotations

import json
import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

from runner import contest, prepare

from .sizes import DEPTH, Size

# Nodes that λ is chosen on, and as many that are predicted to compare the models.
JUDGED = 1_000
CLASSES = 10
SEED = 0


@dataclass
class Point:
    """One contestant at one size; `failure` says why it has no numbers."""

    contestant: str
    size: Size
    seconds: float | None = None
    peak: int | None = None
    accuracy: float | None = None
    failure: str | None = None


class Graphs:
    """Synthetic graphs, each made once per folder."""

    def __init__(self, program: Path, work: Path):
        self.program, self.work = program, work

    def arguments(self, size: Size) -> list:
        """The files of a size, as a contestant takes them."""
        graph = self.work / f"{size.graph}.npz"
        if not graph.exists():
            print(f"    making {graph.name}", flush=True)
            command = [str(self.program), "data", "synth", "--nodes", str(size.nodes)]
            command += ["--edges", str(size.edges), "--features", str(size.features)]
            command += ["--classes", str(CLASSES), "--seed", str(SEED), "-o", str(graph), "--quiet"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        splits = self.work / f"{size.graph}-{size.training}.json"
        if not splits.exists():
            splits.write_text(json.dumps([split(size)]))
        return [str(graph), str(splits), "--filter", "sgc", "--depth", str(DEPTH)]


def split(size: Size) -> dict:
    """Random nodes, the same every time; the rest of them is in no part."""
    nodes = random.Random(SEED).sample(range(size.nodes), size.training + 2 * JUDGED)
    parts = {"train": nodes[: size.training]}
    parts["validation"] = nodes[size.training : size.training + JUDGED]
    parts["test"] = nodes[size.training + JUDGED :]
    return {name: sorted(part) for name, part in parts.items()}


def peers(engine: Path, python: Path, arguments: list) -> list:
    """gfgcn and what one would write in its place."""
    scripts = prepare.SUITE / "peers"
    eigen = ["--solver", "eigen"]
    return [
        contest.Contestant("gfgcn", [str(engine), "deep", *arguments]),
        contest.Contestant("SciPy", [str(python), str(scripts / "deep_scipy.py"), *arguments, *eigen]),
        contest.Contestant("PyTorch", [str(python), str(scripts / "deep_torch.py"), *arguments]),
    ]


def measure(size: Size, engine, python, graphs: Graphs, repetitions, limit, environment) -> list:
    """All contestants at one size, in turns; one at a time in memory where the graph is large."""
    contestants = peers(engine, python, graphs.arguments(size))
    groups = [[one] for one in contestants] if size.nodes >= 10**6 else [contestants]
    points = []
    for group in groups:
        results = contest.compete(group, repetitions, limit, limit, environment(size.threads))
        points += [point(result, size) for result in results]
    return points


def point(result, size: Size) -> Point:
    name = result.contestant.name
    if result.failure or not result.repetitions:
        return Point(name, size, failure=result.failure or "no repetition")
    peaks = [r.peak for r in result.repetitions if r.peak]
    accuracy = result.repetitions[0].check.get("accuracy")
    return Point(name, size, result.best, max(peaks, default=None), accuracy)

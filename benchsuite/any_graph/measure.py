"""Runs `gfgcn evaluate` on a graph, once per program and graph: finished results are kept."""

from __future__ import annotations

import hashlib
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from runner.prepare import BUNDLED

from .graphs import Graph


@dataclass(frozen=True)
class Measured:
    graph: Graph
    report: dict

    def scores(self, model: str) -> list[float] | None:
        """One per split; none where the model was not run."""
        rows = [row for row in self.report["results"] if row["model"] == model]
        return rows[0]["scores"] if rows else None


class Laboratory:
    """A program, the folder with the data, and the folder where results are kept."""

    def __init__(self, program: Path, data: Path | None, results: Path) -> None:
        self.program = program
        self.data = data
        self.results = results
        self.version = hashlib.sha256(program.read_bytes()).hexdigest()[:16]
        results.mkdir(parents=True, exist_ok=True)

    def measure(self, graph: Graph) -> Measured | str:
        """The result, or why there is none."""
        source = self.source(graph.name)
        if source is None:
            return "it is not in the data folder"
        models = "features,gfssgc,auto" if graph.features else "auto"
        options = [*graph.options, "--models", models]
        if graph.features:
            options += ["--depths", "8"]
        key = hashlib.sha256(json.dumps([self.version, graph.name, options]).encode()).hexdigest()[:16]
        kept = self.results / f"{graph.name}-{key}.json"
        if kept.exists():
            return Measured(graph, json.loads(kept.read_text()))
        command = [str(self.program), "evaluate", source, *options, "--json"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return (done.stderr.strip().splitlines() or ["no message"])[-1]
        report = json.loads(done.stdout)
        # Whole or not at all: whoever is interrupted goes on where that was.
        part = kept.with_suffix(".part")
        part.write_text(json.dumps(report, indent=1))
        part.replace(kept)
        return Measured(graph, report)

    def source(self, name: str) -> str | None:
        """A path in the data folder, or the name of one that comes with gfgcn."""
        places = [] if self.data is None else [self.data / f"{name}.npz", self.data / name]
        bundled = name if (BUNDLED / f"{name}.npz").exists() else None
        return next((str(place) for place in places if place.exists()), bundled)

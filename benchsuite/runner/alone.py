"""Measurements of one script, apart from the contests: with the peers' libraries, on a graph as the engine exports it."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Callable

from . import prepare


def parser(description: str) -> argparse.ArgumentParser:
    """What such scripts have in common."""
    formatter = argparse.RawDescriptionHelpFormatter
    result = argparse.ArgumentParser(description=description, formatter_class=formatter)
    result.add_argument("graph", type=Path)
    result.add_argument("--splits", type=Path, help=argparse.SUPPRESS)
    return result


def run(options: argparse.Namespace, measure: Callable[[argparse.Namespace], None]) -> None:
    """Exports the graph and calls the script again with the peers' Python; there, measures."""
    if options.splits is not None:
        sys.path.append(str(prepare.SUITE / "peers"))
        return measure(options)
    engine = prepare.build("gfgcn-bench", "gfgcn-bench", log=lambda _: None)
    python, _ = prepare.install_peers(prepare.SUITE / ".work" / "venv")
    with tempfile.TemporaryDirectory() as folder:
        data, splits = Path(folder, "graph.npz"), Path(folder, "splits.json")
        export = [engine, "export", options.graph, data, "--largest-component", "--splits", splits]
        subprocess.run(list(map(str, export)), check=True)
        rest = [argument for argument in sys.argv[1:] if argument != str(options.graph)]
        again = [python, sys.argv[0], data, "--splits", splits, *rest]
        raise SystemExit(subprocess.run(list(map(str, again))).returncode)

"""Measures `gfgcn fit` without options on graphs of every kind and writes docs/any-graph.md; see README.md."""

from __future__ import annotations

import argparse
import datetime
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from any_graph import measure, page  # noqa: E402
from any_graph.graphs import SECTIONS  # noqa: E402
from runner import machine, prepare  # noqa: E402


def main() -> None:
    options = parse()
    program = options.program or prepare.build("gfgcn-cli", "gfgcn")
    laboratory = measure.Laboratory(program, options.data, prepare.SUITE / ".work" / "any_graph")
    here = machine.describe(prepare.ROOT)
    about = {
        "date": datetime.date.today().isoformat(),
        "commit": here["commit"],
        "processor": here["processor"],
        "threads": os.environ.get("RAYON_NUM_THREADS", here["processors"]),
    }
    found: dict[int, list] = {}
    for number, section in enumerate(SECTIONS):
        found[number] = []
        for graph in section.graphs:
            print(f"{graph.title}, {graph.protocol}, {graph.metric}", flush=True)
            result = laboratory.measure(graph)
            if isinstance(result, str):
                print(f"    not run: {result}")
            else:
                print(f"    {' | '.join(cell for cell in page.line(result)[3:7] if cell)}")
            found[number].append(result)
            # After every graph: all of them take long.
            options.out.write_text(page.page(found, about))
    print(f"written to {options.out}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with the graphs that do not come with gfgcn, as NAME.npz or NAME/")
    parser.add_argument("--program", type=Path, help="a gfgcn to run; without, one is built")
    parser.add_argument("--out", type=Path, default=prepare.ROOT / "docs" / "any-graph.md")
    return parser.parse_args()


main()

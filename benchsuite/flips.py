"""How many wrong labels `gfgcn audit` finds: one label in twenty is replaced by another one at random, three times or more.

    python3 benchsuite/flips.py [--data FOLDER] [--draws N] [GRAPH ...]

GRAPH is a dataset of gfgcn, or one in the folder; prints a line of the table in docs/living.md for each, and the mean of
more than three draws with its standard error.
"""

from __future__ import annotations

import argparse
import csv
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from runner import prepare  # noqa: E402

GRAPHS = ["cora", "citeseer", "pubmed", "texas", "actor", "chameleon_filtered"]
SHOWN = 3


def main() -> None:
    options = parse()
    program = options.program or prepare.build("gfgcn-cli", "gfgcn")
    for graph in options.graphs or GRAPHS:
        named = None if options.data is None else options.data / f"{graph}.npz"
        source = named if named is not None and named.exists() else graph
        shares = [found(program, source, seed) for seed in range(options.draws)]
        first, second = (", ".join(f"{100 * share[k]:.0f}" for share in shares[:SHOWN]) for k in (0, 1))
        print(f"| {graph} | {first} % | {second} % |", flush=True)
        if options.draws > SHOWN:
            few, more = (mean([100 * share[k] for share in shares]) for k in (0, 1))
            print(f"  mean of {options.draws}: {few} %, {more} %", flush=True)


def mean(values: list) -> str:
    error = statistics.stdev(values) / len(values) ** 0.5
    return f"{statistics.mean(values):.1f} ± {error:.1f}"


def found(program: Path, source: Path | str, seed: int) -> tuple[float, float]:
    """The shares of replaced labels in the first 5 % and 10 % of the list."""
    with tempfile.TemporaryDirectory() as folder:
        data, listed = Path(folder) / "data", Path(folder) / "suspects.csv"
        run(program, "data", "convert", source, data)
        (data / "gfgcn-manifest.json").unlink()  # the labels are changed on purpose
        with open(data / "labels.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        classes = sorted({row["label"] for row in rows})
        draw = random.Random(seed)
        replaced = draw.sample(range(len(rows)), len(rows) // 20)
        for k in replaced:
            rows[k]["label"] = draw.choice([name for name in classes if name != rows[k]["label"]])
        with open(data / "labels.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, ["id", "label"])
            writer.writeheader()
            writer.writerows({"id": row["id"], "label": row["label"]} for row in rows)
        run(program, "audit", data, "-o", listed)
        with open(listed, newline="") as file:
            suspects = [row["id"] for row in csv.DictReader(file)]
    wrong = {rows[k]["id"] for k in replaced}
    few, more = (len(wrong.intersection(suspects[: len(rows) // part])) / len(wrong) for part in (20, 10))
    return few, more


def run(program: Path, *arguments: Path | str) -> None:
    subprocess.run([program, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="*", metavar="GRAPH", help=f"[default: {' '.join(GRAPHS)}]")
    parser.add_argument("--data", type=Path, help="folder with the graphs that do not come with gfgcn, as NAME.npz")
    parser.add_argument("--draws", type=int, default=SHOWN, help="how often labels are replaced [default: %(default)s]")
    parser.add_argument("--program", type=Path, help="a gfgcn to run; without, one is built")
    return parser.parse_args()


main()

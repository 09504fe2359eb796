"""How accurate the paper's formula Λ = (λM + I)⁻¹Y is if it is computed in single precision, as PyTorch does unless told
otherwise: where M is singular, a large λ leaves nothing of I.

    python3 benchsuite/single_precision.py GRAPH [--filter dgc] [--depth 2] [--penalties 1e5,5e5,6e5,1e6]

GRAPH is the archive of a graph, whose largest component is used as in the paper; prints a line per λ: test accuracy in single and in
double precision, its mean and standard error over 20 splits. Installs the peers of the benchsuite, of which it needs NumPy and
SciPy.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SUITE = Path(__file__).resolve().parent
sys.path[:0] = [str(SUITE), str(SUITE / "peers")]

from runner import prepare  # noqa: E402


def main() -> None:
    options = parse()
    if options.splits is None:
        return start(options.graph)
    measure(options)


def start(graph: Path) -> None:
    """Exports the graph as the peers read it, and calls this script with their Python."""
    engine = prepare.build("gfgcn-bench", "gfgcn-bench", log=lambda _: None)
    python, _ = prepare.install_peers(SUITE / ".work" / "venv")
    with tempfile.TemporaryDirectory() as folder:
        data, splits = Path(folder, "graph.npz"), Path(folder, "splits.json")
        export = [engine, "export", graph, data, "--largest-component", "--splits", splits]
        subprocess.run(list(map(str, export)), check=True)
        rest = [argument for argument in sys.argv[1:] if argument != str(graph)]
        again = [python, __file__, data, "--splits", splits, *rest]
        raise SystemExit(subprocess.run(list(map(str, again)), env=os.environ).returncode)


def measure(options: argparse.Namespace) -> None:
    import numpy as np
    from filters import FILTERS
    from problem import accuracy, load, load_splits, normalized, one_hot

    problem = load(str(options.graph))
    splits = load_splits(str(options.splits))
    operator = normalized(problem.adjacency)
    filtered = FILTERS[options.filter](operator, problem.features, options.depth).astype(np.float32)

    def accuracies(penalty, precision):
        for split in splits:
            train = filtered[split.train].astype(precision)
            targets = one_hot(problem.labels[split.train], problem.classes).astype(precision)
            system = precision(penalty) * (train @ train.T) + np.eye(len(train), dtype=precision)
            try:
                coefficients = precision(penalty) * np.linalg.solve(system, targets)
            except np.linalg.LinAlgError:  # exactly singular
                coefficients = np.zeros_like(targets)
            scores = filtered[split.test].astype(precision) @ (train.T @ coefficients)
            yield accuracy(scores, problem.labels[split.test])

    def summary(values):
        values = np.array(list(values))
        return f"{values.mean():.1f} ± {values.std(ddof=1) / len(values) ** 0.5:.1f}"

    for penalty in options.penalties:
        single, double = (summary(accuracies(penalty, p)) for p in (np.float32, np.float64))
        print(f"λ = {penalty:g}: {single} in single precision, {double} in double", flush=True)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=Path)
    parser.add_argument("--filter", choices=["sgc", "ssgc", "dgc"], default="dgc")
    parser.add_argument("--depth", type=int, default=2)
    numbers = lambda text: [float(word) for word in text.split(",")]  # noqa: E731
    parser.add_argument("--penalties", type=numbers, default=[1e5, 5e5, 6e5, 1e6])
    parser.add_argument("--splits", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()

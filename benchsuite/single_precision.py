"""How accurate the paper's formula Λ = (λM + I)⁻¹Y is if it is computed in single precision, as PyTorch does unless told
otherwise: where M is singular, a large λ leaves nothing of I.

    python3 benchsuite/single_precision.py GRAPH [--filter dgc] [--depth 2] [--penalties 1e5,5e5,6e5,1e6]

GRAPH is the archive of a graph, whose largest component is used as in the paper; prints a line per λ: test accuracy in single and in
double precision, its mean and standard error over 20 splits. Installs the peers of the benchsuite, of which it needs NumPy and
SciPy.
"""

from __future__ import annotations

import argparse

from runner import alone


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
    parser = alone.parser(__doc__)
    parser.add_argument("--filter", choices=["sgc", "ssgc", "dgc"], default="dgc")
    parser.add_argument("--depth", type=int, default=2)
    numbers = lambda text: [float(word) for word in text.split(",")]  # noqa: E731
    parser.add_argument("--penalties", type=numbers, default=[1e5, 5e5, 6e5, 1e6])
    return parser.parse_args()


if __name__ == "__main__":
    alone.run(parse(), measure)

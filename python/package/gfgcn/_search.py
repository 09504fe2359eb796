"""Comparing models, and searching for the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence

import numpy as np

from . import _inputs
from ._classifier import GradientFreeClassifier
from ._estimator import warn
from ._gfgcn import evaluate as _evaluate
from ._gfgcn import tune as _tune
from ._results import Results
from ._settings import design_settings, flag, ridge_settings, text, threads, whole
from ._types import Array


def evaluate(
    X: Any,
    y: Any = None,
    adjacency: Any = None,
    *,
    filters: Sequence[str] = ("sgc", "ssgc", "dgc"),
    depths: Sequence[int] = (2, 4, 8, 16, 32, 64, 128),
    tau: float = 0.05,
    time: float = 5.27,
    kernel: str = "linear",
    lam: str | float = "loo",
    normalization: str = "sym",
    row_normalize: bool = False,
    fit_intercept: bool = False,
    splits: int = 20,
    ratio: str = "1:1:8",
    seed: int = 0,
    split: tuple[Any, Any, Any] | None = None,
    largest_component: bool | None = None,
    n_jobs: int | None = None,
) -> Results:
    """Measures the test accuracy of filters at several depths over many splits, as ``gfgcn evaluate`` does.

    Parameters
    ----------
    X, y, adjacency
        As of :meth:`GradientFreeClassifier.fit`, but every label is used; X may be a dataset that holds all three.
    filters, depths
        Every filter is evaluated at every depth.
    tau, time, kernel, lam, normalization, row_normalize, fit_intercept, n_jobs
        As of :class:`GradientFreeClassifier`.
    splits, ratio, seed
        How many random splits, their shares of training, validation and test nodes in each class, and the seed of the
        first.
    split : (train, validation, test), optional
        Masks or node numbers of one given split, instead of random ones.
    largest_component : bool, optional
        Whether only the largest connected component is used: by default yes, unless a split is given.

    Returns
    -------
    Results
        One row per filter and depth: mean accuracy in percent (as tables have it), its standard error, the median λ, the
        accuracies of all splits, and the seconds it took.

    Examples
    --------
    >>> from gfgcn import datasets, evaluate
    >>> results = evaluate(datasets.load("cora"), filters=["ssgc"], depths=[8], splits=3)
    >>> [(row["model"], row["depth"], len(row["accuracies"])) for row in results]
    [('gfSSGC', 8, 3)]
    """
    given = _inputs.unpack(X, y, adjacency)
    if given.y is None:
        raise ValueError("there is nothing to evaluate against: y is None")
    designs = [
        design_settings(filter, depth, tau, time, normalization, row_normalize)
        for filter in ([filters] if isinstance(filters, str) else filters)
        for depth in (depths if hasattr(depths, "__iter__") else [depths])
    ]
    checked = _inputs.check(given)
    workers = threads(n_jobs)
    data = checked.dataset(workers)
    random = _random(splits, ratio, seed)  # checked even where a split is given
    largest_component = split is None if largest_component is None else flag("largest_component", largest_component)
    rows = _evaluate(
        data,
        designs,
        ridge_settings(kernel, lam, fit_intercept),
        random,
        None if split is None else _parts(split, checked.rows, largest_component),
        largest_component,
        workers,
    )
    return Results(map(_ordered, rows), hidden=["accuracies", "filter"])


def _parts(split: Any, rows: int, largest_component: bool) -> list[Array]:
    """Training, validation and test nodes of a given split."""
    if largest_component:
        raise ValueError("a given split is about all nodes; use it with largest_component=False")
    names = ("training", "validation", "test")
    if len(split) != len(names):
        raise ValueError(f"split has {len(split)} parts, but must have three: training, validation and test nodes")
    return [_inputs.part(nodes, rows, name) for nodes, name in zip(split, names)]


def _random(splits: Any, ratio: Any, seed: Any) -> tuple[int, str, int]:
    """How many random splits, of which shares, from which seed on."""
    if not isinstance(ratio, str):
        raise TypeError(f"ratio is {ratio!r}, but must be text such as '1:1:8'")
    if whole("splits", splits) < 1:
        raise ValueError(f"splits is {splits}, but must be at least 1")
    if whole("seed", seed) < 0:
        raise ValueError(f"seed is {seed}, but must not be negative")
    return whole("splits", splits), ratio, whole("seed", seed)


def _ordered(row: dict[str, Any]) -> dict[str, Any]:
    """The parameters of every filter, those that this one lacks too."""
    return {"model": row["model"], "filter": row["filter"], "depth": row["depth"], "tau": None, "time": None, **row}


@dataclass(frozen=True)
class Tuned:
    """What a search found."""

    best_params: dict[str, Any]
    """Parameters of the chosen :class:`GradientFreeClassifier`."""
    accuracy: float
    """The accuracy to expect on other nodes, 0 to 1; it allows for having searched."""
    std_error: float
    """The standard error of that accuracy."""
    interval: tuple[float, float]
    """From where to where it is with a confidence of 95 %."""
    tried: int
    """Combinations that were tried, each at 25 values of λ."""
    board: Results
    """The best of them with their leave-one-out scores."""

    def classifier(self, **params: Any) -> GradientFreeClassifier:
        """A classifier with the chosen parameters, to be fitted."""
        return GradientFreeClassifier(**{**self.best_params, **params})

    def __repr__(self) -> str:
        low, high = self.interval
        expected = f"{100 * self.accuracy:.1f} % (95 % interval {100 * low:.1f} to {100 * high:.1f})"
        return f"{self.classifier()!r}: the choice of {self.tried} combinations, expected accuracy {expected}"

    def _repr_html_(self) -> str:
        import html

        return f"<p>{html.escape(repr(self))}</p>{self.board._repr_html_()}"


def tune(
    X: Any,
    y: Any = None,
    adjacency: Any = None,
    *,
    normalization: str = "sym",
    fit_intercept: bool = False,
    n_jobs: int | None = None,
) -> Tuned:
    """Chooses filter, depth, τ, T, kernel, row normalisation and λ jointly, by exact leave-one-out on the labels.

    Parameters are as of :meth:`GradientFreeClassifier.fit` and :class:`GradientFreeClassifier`. The default, SSGC at
    depth 8, is only replaced by what is better beyond chance.

    Examples
    --------
    >>> from gfgcn import datasets, tune
    >>> cora = datasets.load("cora")
    >>> tuned = tune(cora.X, cora.y_train, cora.adjacency)
    >>> tuned.tried
    168
    >>> model = tuned.classifier().fit(cora.X, cora.y_train, cora.adjacency)
    """
    given = _inputs.unpack(X, y, adjacency)
    if given.y is None:
        raise ValueError("there is nothing to learn from: y is None")
    checked = _inputs.check(given)
    train = _inputs.training_nodes(checked.trains())
    counts = np.bincount(checked.labels.codes[train])
    single = [name for name, count in zip(checked.labels.names, counts) if count == 1]
    if single:
        warn(
            f"classes with a single training node ({', '.join(single[:5])}): with that node left out nothing says what "
            "the class is, so leave-one-out counts it as wrong"
        )
    workers = threads(n_jobs)
    data = checked.dataset(workers)
    operator, intercept = text("normalization", normalization), flag("fit_intercept", fit_intercept)
    found = _tune(data, operator, intercept, train, workers)
    chosen = found["board"][found["chosen"]]
    params = {name: chosen[name] for name in GradientFreeClassifier._defaults() if name in chosen and name != "lam"}
    return Tuned(
        best_params={**params, "normalization": operator, "fit_intercept": intercept},
        accuracy=found["accuracy"],
        std_error=found["std_error"],
        interval=found["interval"],
        tried=found["tried"],
        board=Results(map(_ordered, found["board"]), hidden=["filter"]),
    )

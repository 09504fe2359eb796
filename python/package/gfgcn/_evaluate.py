"""Comparing models."""

from __future__ import annotations

from typing import Any, Sequence

from . import _inputs
from ._gfgcn import evaluate as _evaluate
from ._results import Results
from ._settings import Workers, design_settings, flag, ridge_settings, scoring_settings, text, whole
from ._types import Array


def evaluate(
    X: Any,
    y: Any = None,
    adjacency: Any = None,
    *,
    directed: bool | None = None,
    values: bool = False,
    models: Sequence[str] = ("sgc", "ssgc", "dgc"),
    filters: Sequence[str] | None = None,
    depths: Sequence[int] = (2, 4, 8, 16, 32, 64, 128),
    tau: float = 0.05,
    time: float = 5.27,
    kernel: str = "linear",
    lam: str | float = "loo",
    normalization: str = "sym",
    row_normalize: bool = False,
    fit_intercept: bool = False,
    class_weight: str | dict[Any, float] | None = None,
    scoring: str | None = None,
    splits: int = 20,
    ratio: str = "1:1:8",
    seed: int = 0,
    split: tuple[Any, Any, Any] | None = None,
    largest_component: bool | None = None,
    calibration: bool = False,
    n_jobs: int | None = None,
    device: str | None = None,
) -> Results:
    """Measures models on test nodes over many splits, as ``gfgcn evaluate`` does.

    Parameters
    ----------
    X, y, adjacency, directed
        As of :meth:`GradientFreeClassifier.fit`, but every label is used; X may be a dataset that holds all three.
    values : bool
        Whether y are values, as of :meth:`GradientFreeRegressor.fit`.
    models
        Filters ("sgc", "ssgc", "dgc"), each of which is evaluated at every depth; "features", the closed form on a node's
        own features, without the graph; and "auto", what is found without parameters, searched for on each split.
    filters
        Another name for the same.
    depths
        How far the filters reach.
    tau, time, kernel, lam, normalization, row_normalize, fit_intercept, class_weight, scoring, n_jobs, device
        As of :class:`GradientFreeClassifier`. "auto" chooses the first four and row_normalize by itself.
    splits, ratio, seed
        How many random splits, their shares of training, validation and test nodes in each class, and the seed of the
        first.
    split : (train, validation, test), optional
        Masks or node numbers of one given split, instead of random ones.
    largest_component : bool, optional
        Whether only the largest connected component is used: by default yes, unless a split is given.
    calibration : bool
        Whether probabilities and prediction sets are judged, too: ``calibration_error`` is the expected calibration error,
        0 to 1, ``coverage_90`` the percentage of test nodes whose class is in its 90 % set (value in its interval), and
        ``size_90`` how many classes that has (how wide it is) on average; the same of 95 %.

    Returns
    -------
    Results
        One row per model and depth: mean accuracy in percent (as tables have it), its standard error, the median λ, the
        accuracies of all splits, and the seconds it took. With another metric its mean and values are ``score`` and
        ``scores`` (in percent where it is a share), the standard error is theirs, and ``metric`` says which it is.

    Examples
    --------
    >>> from gfgcn import datasets, evaluate
    >>> results = evaluate(datasets.load("cora"), models=["ssgc"], depths=[8], splits=3)
    >>> [(row["model"], row["depth"], len(row["accuracies"])) for row in results]
    [('gfSSGC', 8, 3)]
    """
    given = _inputs.unpack(X, y, adjacency, directed)
    if given.y is None:
        raise ValueError("there is nothing to evaluate against: y is None")
    names = models if filters is None else filters
    deep = depths if hasattr(depths, "__iter__") else [depths]
    designs: list[dict[str, Any] | str | None] = []
    for name in [names] if isinstance(names, str) else names:
        if name == "auto":
            designs.append(None)
        elif name == "features":
            designs.append("identity/sum" if flag("row_normalize", row_normalize) else "identity")
        else:
            filter = name[2:] if isinstance(name, str) and name.startswith("gf") else name
            designs += [design_settings(filter, depth, tau, time, normalization, row_normalize) for depth in deep]
    meant = scoring_settings(scoring)
    checked = _inputs.check(given, "values" if flag("values", values) else "classes", hints=True)
    objective = {"metric": meant.metric, "class_weight": _inputs.class_weights(class_weight, checked.targets)}
    workers = Workers.of(n_jobs, device)
    data = checked.dataset(workers)
    random = _random(splits, ratio, seed)  # checked even where a split is given
    largest_component = split is None if largest_component is None else flag("largest_component", largest_component)
    rows = _evaluate(
        data,
        designs,
        text("normalization", normalization),
        ridge_settings(kernel, lam, fit_intercept),
        objective,
        random,
        None if split is None else _parts(split, checked.rows, largest_component),
        largest_component,
        flag("calibration", calibration),
        workers,
    )
    shown = (_ordered(row, meant.sign) for row in rows)
    return Results(shown, hidden=["accuracies", "scores", "filter", "metric"])


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


def _ordered(row: dict[str, Any], sign: float) -> dict[str, Any]:
    """The parameters of every filter, those that this one lacks too; scores with the sign that was asked for."""
    if "score" in row:
        row = {**row, "score": sign * row["score"], "scores": sign * row["scores"]}
    return {"model": row["model"], "filter": row["filter"], "depth": row["depth"], "tau": None, "time": None, **row}

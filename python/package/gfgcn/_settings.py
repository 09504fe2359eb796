"""Parameters as the engine reads them; what is not even of the right type is refused here, ranges are its business."""

from __future__ import annotations

import numbers
import operator
import os
from typing import Any, NamedTuple

from ._gfgcn import settled

# The model that is meant where something is said about it, but not all.
PLAIN = {
    "filter": "ssgc",
    "depth": 8,
    "tau": 0.05,
    "time": 5.27,
    "kernel": "linear",
    "lam": "loo",
    "row_normalize": False,
}
# What a design as text says by itself.
_OF_DESIGN = ("filter", "depth", "tau", "time", "row_normalize")
# Scikit-learn's names of metrics.
_METRICS = {
    "balanced_accuracy": "balanced-accuracy",
    "f1_macro": "macro-f1",
    "f1_micro": "micro-f1",
    "roc_auc": "auc",
    "average_precision": "average-precision",
    "neg_mean_absolute_error": "mae",
}
# What is meant where no metric is named, by what is learnt.
USUAL_METRIC = {"classes": "accuracy", "sets": "micro-f1", "values": "r2"}


class Plain(NamedTuple):
    """A model that was asked for, not searched for."""

    design: dict[str, Any] | str
    ridge: dict[str, Any]


def plain_settings(params: dict[str, Any]) -> Plain | None:
    """The model that an estimator's parameters ask for; None for the search."""
    given = {name: params[name] for name in PLAIN if params[name] is not None}
    design, normalization = text("design", params["design"]), text("normalization", params["normalization"])
    fit_intercept = flag("fit_intercept", params.get("fit_intercept", False))
    if design == "auto" and not given:
        return None
    chosen = {**PLAIN, **given}
    ridge = ridge_settings(chosen["kernel"], chosen["lam"], fit_intercept)
    if design == "auto":
        numbers_of_it = (chosen["filter"], chosen["depth"], chosen["tau"], chosen["time"])
        return Plain(design_settings(*numbers_of_it, normalization, chosen["row_normalize"]), ridge)
    twice = [name for name in _OF_DESIGN if name in given]
    if normalization != "sym":
        twice.append("normalization")
    if twice:
        raise ValueError(f"{twice[0]} is given, but design={design!r} says that as well; leave out one of them")
    return Plain(design, ridge)


class Scoring(NamedTuple):
    """A metric as the engine calls it, and by what its value is multiplied to be what was asked for."""

    metric: str | None
    sign: float


def scoring_settings(scoring: Any) -> Scoring:
    """By what is chosen; scikit-learn's names of metrics and the engine's own."""
    if scoring is None:
        return Scoring(None, 1.0)
    name = text("scoring", scoring)
    return Scoring(_METRICS.get(name, name), -1.0 if name.startswith("neg_") else 1.0)


def design_settings(
    filter: Any, depth: Any, tau: Any, time: Any, normalization: Any, row_normalize: Any
) -> dict[str, Any]:
    """What is computed from graph and features; each filter takes those of the numbers that are its own, but all are
    checked."""
    return {
        "filter": text("filter", filter),
        "numbers": {"depth": float(whole("depth", depth)), "tau": number("tau", tau), "time": number("time", time)},
        "normalization": text("normalization", normalization),
        "row_normalize": flag("row_normalize", row_normalize),
    }


def ridge_settings(kernel: Any, lam: Any, fit_intercept: Any) -> dict[str, Any]:
    """How that is learnt from."""
    return {
        "kernel": text("kernel", kernel),
        "lam": _lam(lam),
        "fit_intercept": flag("fit_intercept", fit_intercept),
    }


class Workers(NamedTuple):
    """What work runs on: so many threads, 0 for as many as there are cores, and "auto", "cpu" or "cuda:N"."""

    threads: int
    device: str

    @classmethod
    def of(cls, n_jobs: Any, device: Any) -> Workers:
        """``n_jobs`` and ``device``, checked; where no device is named, that of the variable GFGCN_DEVICE, or "auto"."""
        return cls(_threads(n_jobs), settled(None if device is None else text("device", device)))


def _threads(n_jobs: Any) -> int:
    """``n_jobs`` as joblib counts, but None means all cores; 0 is as many as there are. More than a machine can use would
    only take time to start."""
    if n_jobs is None:
        return 0
    count, cores = whole("n_jobs", n_jobs), os.cpu_count() or 1
    if count == 0:
        raise ValueError(
            "n_jobs is 0, but must be None, a positive number, or negative: -1 for all cores, -2 for all but one"
        )
    return max(1, cores + 1 + count) if count < 0 else min(count, max(cores, 64))


def _lam(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return repr(number("lam", value))
    except TypeError:
        raise TypeError(f"lam is {value!r}, but must be 'loo', 'validation' or a number") from None


def flag(name: str, value: Any) -> bool:
    """True or False."""
    # NumPy's own kind of bool is none of Python's.
    if not isinstance(value, bool) and type(value).__name__ not in ("bool", "bool_"):
        raise TypeError(f"{name} is {value!r}, but must be True or False")
    return bool(value)


def text(name: str, value: Any) -> str:
    """A string."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}, but must be a string")
    return value


def whole(name: str, value: Any) -> int:
    """A number without a fraction, of any type that has such; True is none."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}, but must be a whole number") from None
    if abs(number) >= 2**62:
        raise ValueError(f"{name} is {value!r}, which is far too large")
    return number


def number(name: str, value: Any) -> float:
    """A real number; True is none."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}, but must be a number")
    return float(value)

"""Parameters as the engine reads them; what is not even of the right type is refused here, ranges are its business."""

from __future__ import annotations

import numbers
import operator
import os
from typing import Any


def design_settings(
    filter: Any, depth: Any, tau: Any, time: Any, normalization: Any, row_normalize: Any
) -> dict[str, Any]:
    """What is computed from graph and features; each filter takes those of the numbers that are its own, but all are
    checked."""
    return {
        "filter": text("filter", filter),
        "numbers": {"depth": float(whole("depth", depth)), "tau": _number("tau", tau), "time": _number("time", time)},
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


def threads(n_jobs: Any) -> int:
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
        return repr(_number("lam", value))
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


def _number(name: str, value: Any) -> float:
    if not isinstance(value, numbers.Real) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}, but must be a number")
    return float(value)

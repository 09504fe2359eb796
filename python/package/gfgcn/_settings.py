"""Parameters as the engine reads them; what is not even of the right type is refused here, ranges are its business."""

from __future__ import annotations

import numbers
import operator
from typing import Any


def filter_settings(filter: Any, depth: Any, tau: Any, time: Any) -> dict[str, Any]:
    """Which polynomial."""
    return {
        "filter": _text("filter", filter),
        "depth": _whole("depth", depth),
        "tau": _number("tau", tau),
        "time": _number("time", time),
    }


def model_settings(
    kernel: Any = "linear",
    lam: Any = "loo",
    normalization: Any = "sym",
    row_normalize: Any = False,
    fit_intercept: Any = False,
) -> dict[str, Any]:
    """Everything else."""
    return {
        "kernel": _text("kernel", kernel),
        "lam": lam if isinstance(lam, str) else _number("lam", lam),
        "normalization": _text("normalization", normalization),
        "row_normalize": bool(row_normalize),
        "fit_intercept": bool(fit_intercept),
    }


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}, but must be a string")
    return value


def _whole(name: str, value: Any) -> int:
    try:
        return max(min(operator.index(value), 2**62), -(2**62))
    except TypeError:
        raise TypeError(f"{name} is {value!r}, but must be a whole number") from None


def _number(name: str, value: Any) -> float:
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is {value!r}, but must be a number")
    return float(value)

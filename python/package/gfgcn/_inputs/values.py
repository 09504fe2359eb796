"""Values: numbers that are to be predicted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._types import Array
from .arrays import array, in_order_of, with_gaps


@dataclass
class Values:
    """One or several numbers per node, NaN where they are not known."""

    matrix: Array
    names: list[str]
    flat: bool

    @property
    def known(self) -> Array:
        """A mask of the nodes whose values are known."""
        return np.asarray(~np.isnan(self.matrix).any(axis=1))

    def only(self, part: Array) -> Values:
        """What is known of a part of the nodes."""
        return replace(self, matrix=np.where(part[:, None], self.matrix, np.nan))

    def engine(self) -> tuple[Array, list[str]]:
        """As the engine reads them."""
        return self.matrix, self.names


def values(y: Any, rows: int, nodes: list[Any] | None = None, names: Any = None) -> Values:
    """An array (nodes,) or (nodes, columns), or a dict from node to value; NaN and None stand for unknown."""
    if isinstance(y, dict):
        order = list(range(rows)) if nodes is None else nodes
        strangers = set(y) - set(order)
        if strangers:
            raise ValueError(f"y has a value of {next(iter(strangers))!r}, which is no node of the graph")
        width = np.shape(next(iter(y.values()))) if y else ()
        y = [y.get(node, np.full(width, np.nan)) for node in order]
    y = in_order_of(nodes, y)
    if hasattr(y, "columns"):
        names = [str(name) for name in y.columns]
    if hasattr(y, "toarray"):
        y = y.toarray()
    gaps = with_gaps(y)
    if gaps is not None and gaps[0].dtype.kind in "biuf":
        y = np.where(gaps[1], np.nan, gaps[0])
    y = np.ma.filled(y.astype(np.float64), np.nan) if isinstance(y, np.ma.MaskedArray) else array(y)
    if y.dtype.kind == "c" or (y.dtype.kind == "O" and any(isinstance(value, complex) for value in y.flat)):
        raise ValueError("Complex data not supported: y are real numbers")
    if y.ndim not in (1, 2):
        raise ValueError(f"y should be an array (nodes,) or (nodes, columns), got an array of shape {y.shape} instead.")
    if len(y) != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {len(y)}]")
    try:
        numbers = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y are numbers to be predicted; for classes use a classifier: {error}") from None
    if np.isinf(numbers).any():
        raise ValueError("Input y contains infinity or a value too large for dtype('float64').")
    matrix = np.require(numbers.reshape(rows, -1), np.float64, ["C", "A"])
    columns = [f"y{k}" for k in range(matrix.shape[1])] if names is None else list(map(str, names))
    return Values(matrix, columns, y.ndim == 1)

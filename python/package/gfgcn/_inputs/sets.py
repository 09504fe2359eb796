"""Sets of labels: a matrix of zeros and ones, one column per label."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._types import Array
from .arrays import array, in_order_of


@dataclass
class LabelSets:
    """Which labels each node has: 1 and 0, or a row of -1 where that is not known. Columns may be named, or just numbered."""

    matrix: Array
    classes: Array
    dtype: Any = np.dtype(np.int64)
    class_names: Any = None
    named: bool = False

    @property
    def names(self) -> list[str]:
        """For the model file."""
        return [str(name) for name in (self.classes if self.class_names is None else self.class_names)]

    @property
    def known(self) -> Array:
        """A mask of the nodes whose labels are known."""
        return np.asarray((self.matrix >= 0).all(axis=1))

    def only(self, part: Array) -> LabelSets:
        """What is known of a part of the nodes."""
        return replace(self, matrix=np.where(part[:, None], self.matrix, -1).astype(self.matrix.dtype))

    def engine(self) -> tuple[Array, list[str]]:
        """As the engine reads them."""
        return self.matrix, self.names


def is_matrix(y: Any) -> bool:
    """Whether this has a row of several entries for each node."""
    if isinstance(y, dict):
        return False
    shape = getattr(y, "shape", None)
    if shape is None:
        try:
            shape = array(y).shape
        except ValueError:
            return False
    return len(shape) == 2 and shape[1] != 1


def label_sets(y: Any, rows: int, nodes: list[Any] | None = None, class_names: Any = None) -> LabelSets:
    """A matrix of 0 and 1; a row of -1 or NaN is a node whose labels are not known."""
    y = in_order_of(nodes, y)
    classes = np.asarray(list(y.columns)) if hasattr(y, "columns") else None
    if hasattr(y, "toarray"):
        y = y.toarray()
    y = np.ma.filled(y.astype(float), np.nan) if isinstance(y, np.ma.MaskedArray) else array(y)
    if len(y) != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {len(y)}]")
    dtype = y.dtype if y.dtype.kind in "iu" else np.dtype(np.int64)
    if y.dtype.kind not in "biuf":
        try:
            y = y.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError("y should be a 1d array of classes, or a matrix of 0 and 1, one column per label") from None
    unknown = np.isnan(y) | (y == -1) if y.dtype.kind == "f" else y == -1
    partly = np.flatnonzero(unknown.any(axis=1) & ~unknown.all(axis=1))
    if len(partly):
        raise ValueError(f"row {partly[0]} of y has labels that are not known beside others; give all or none")
    wrong = np.argwhere(~unknown & (y != 0) & (y != 1))
    if len(wrong):
        row, column = wrong[0]
        raise ValueError(
            f"y has {y[row, column]} in row {row}, column {column}: a matrix of labels holds 0 and 1, and rows of -1 or NaN "
            "where they are not known"
        )
    matrix = np.where(unknown, -1, y).astype(np.int8)
    if not (matrix == 1).any() and (matrix >= 0).any():
        raise ValueError("no node has a label, so there is nothing to learn from; label some first")
    named = classes is not None or class_names is not None
    if classes is None:
        classes = np.arange(y.shape[1])
    sets = LabelSets(matrix, classes, dtype, class_names, named)
    twice = next((name for place, name in enumerate(sets.names) if name in sets.names[:place]), None)
    if twice is not None:
        raise ValueError(f"two columns of y are called {twice!r}; every label needs a name of its own")
    return sets

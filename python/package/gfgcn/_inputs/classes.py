"""Labels of any type, and parts of splits."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._estimator import warn
from .._settings import number
from .._types import Array
from .arrays import array, in_order_of, with_gaps


@dataclass
class Labels:
    """Class numbers, -1 for unlabelled, and what the classes are called."""

    codes: Array
    classes: Array
    class_names: Any = None

    @property
    def known(self) -> Array:
        """A mask of the nodes that have a label."""
        return self.codes >= 0

    def only(self, part: Array) -> Labels:
        """What is known of a part of the nodes."""
        return replace(self, codes=np.where(part, self.codes, -1))

    def engine(self) -> tuple[Array, list[str]]:
        """As the engine reads them."""
        return self.codes, self.names

    @property
    def names(self) -> list[str]:
        """For the model file: what a dataset calls its classes, or the classes themselves; whole numbers without a
        point."""
        if self.class_names is not None:
            return [str(self.class_names[k]) for k in self.classes]
        whole = [isinstance(name, (float, np.floating)) and float(name).is_integer() for name in self.classes]
        return [str(int(name) if is_whole else name) for name, is_whole in zip(self.classes, whole)]


def labels(y: Any, rows: int, nodes: list[Any] | None = None, class_names: Any = None) -> Labels:
    """Labels of any type: -1, NaN and None stand for unlabelled, and so does what is masked. `class_names` has what the
    integers in y stand for, if anything."""
    if y is None:
        return Labels(np.full(rows, -1, dtype=np.int64), np.empty(0, dtype=object))
    if isinstance(y, dict):
        if nodes is None:
            nodes = list(range(rows))
        strangers = set(y) - set(nodes)
        if strangers:
            raise ValueError(f"y has a label of {next(iter(strangers))!r}, which is no node of the graph")
        y = np.array([y.get(node) for node in nodes], dtype=object)
    y, missing = _label_array(in_order_of(nodes, y))
    if y.ndim == 2 and y.shape[1] == 1:
        _warn_of_column()
        y = y.ravel()
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    if len(y) != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {len(y)}]")
    known = _known(y) if missing is None else _known(y) & ~missing
    try:
        classes, codes_of_known = np.unique(y[known], return_inverse=True)
    except TypeError as error:
        raise ValueError(f"the labels cannot be put in order: {error}") from None
    if classes.dtype.kind == "f" and np.any(classes != np.floor(classes)):
        raise ValueError(
            "Unknown label type: continuous. Labels are classes; for numbers in between use a regressor."
        )
    codes = np.full(rows, -1, dtype=np.int64)
    codes[known] = codes_of_known.reshape(-1)
    if len(classes) == 1 and y.dtype.kind in "if" and np.any(y == -1):
        warn(f"{classes[0]} is the only class: -1 stands for unlabelled. Name the classes 0 and 1 if it is a class too.")
    return Labels(codes, classes, class_names)


def _label_array(y: Any) -> tuple[Array, Array | None]:
    """Labels as an array, and a mask of those that are not known, where something says so beside them."""
    if isinstance(y, np.ma.MaskedArray):
        return np.asarray(y), np.ma.getmaskarray(y)
    gaps = with_gaps(y)
    if gaps is not None:
        return gaps
    values = array(y)
    if values.dtype.kind in "US" and not isinstance(y, np.ndarray) and hasattr(y, "__iter__"):
        # A list of strings with NaN or -1 among them, which NumPy takes for strings too.
        if not all(isinstance(label, (str, bytes)) for label in y):
            return np.array(list(y), dtype=object), None
    return values, None


def _known(y: Array) -> Array:
    """Where there is a label."""
    kind = y.dtype.kind
    if kind in "iu":
        return np.asarray(y != -1)
    if kind == "f":
        if np.isinf(y).any():
            raise ValueError("Input y contains infinity or a value too large for a class.")
        return np.asarray(~np.isnan(y) & (y != -1))
    if kind == "O":
        return np.array([not _stands_for_nothing(label) for label in y], dtype=bool)
    if kind == "c":
        raise ValueError("Complex data not supported: y are classes")
    if kind in "Mm":
        return np.asarray(~np.isnat(y))
    return np.ones(len(y), dtype=bool)


def _stands_for_nothing(label: Any) -> bool:
    if label is None or isinstance(label, str):
        return label is None
    same = label == label
    # NaN differs from itself; pandas' NA does not even say.
    return not isinstance(same, (bool, np.bool_)) or not same or (not isinstance(label, bool) and bool(label == -1))


def _warn_of_column() -> None:
    loaded = sys.modules.get("sklearn.exceptions")
    category = getattr(loaded, "DataConversionWarning", UserWarning)
    warn("A column-vector y was passed when a 1d array was expected. Change the shape of y to (n_samples,).", category)


def class_weights(weights: Any, targets: Any) -> Any:
    """Weights of classes by the names that the engine knows them by, "balanced", or None."""
    if weights is None:
        return None
    if not isinstance(targets, Labels):
        raise ValueError(f"class_weight is {weights!r}, but it is for classes, and y has none")
    if isinstance(weights, str) and weights == "balanced":
        return weights
    if not isinstance(weights, dict):
        raise ValueError(f"class_weight is {weights!r}, but must be None, 'balanced' or a dict from class to weight")
    names = dict(zip(targets.classes.tolist(), targets.names))
    strangers = [label for label in weights if label not in names]
    if strangers:
        known = ", ".join(map(repr, list(names)[:8]))
        raise ValueError(f"class_weight has a weight for {strangers[0]!r}, which no node has; the classes are {known}")
    return [(names[label], number("class_weight", weight)) for label, weight in weights.items()]


def part(nodes: Any, rows: int, name: str) -> Array:
    """Node numbers of a part of a split that is given as a mask or as numbers."""
    nodes = array(nodes)
    if nodes.dtype.kind == "b":
        if nodes.shape != (rows,):
            raise ValueError(f"the {name} mask has shape {nodes.shape}, but there are {rows} nodes")
        return np.flatnonzero(nodes).astype(np.int64)
    if nodes.size and nodes.dtype.kind not in "iu":
        raise ValueError(f"the {name} part is a mask or node numbers, but this holds {nodes.dtype}")
    nodes = np.require(nodes.reshape(-1), np.int64, ["C", "A"])
    if len(nodes) == rows > 2 and np.isin(nodes, (0, 1)).all():
        raise ValueError(f"the {name} part looks like a mask of zeros and ones; make it one of True and False")
    outside = nodes[(nodes < 0) | (nodes >= rows)]
    if len(outside):
        raise ValueError(f"the {name} part names node {outside[0]}, but the nodes are 0 to {rows - 1}")
    numbers, counts = np.unique(nodes, return_counts=True)
    if len(numbers) < len(nodes):
        raise ValueError(f"the {name} part names node {numbers[counts > 1][0]} twice")
    return np.asarray(nodes)


def mask(nodes: Any, rows: int, name: str) -> Array:
    """The same as a mask."""
    inside = np.zeros(rows, dtype=bool)
    inside[part(nodes, rows, name)] = True
    return inside

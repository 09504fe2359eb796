"""Data frames of pandas and Polars, and tables of pyarrow: as features, and as lists of edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._gfgcn import edge_columns, is_id_name
from .._types import Array
from .arrays import array, with_gaps


def is_frame(values: Any) -> bool:
    """Whether this has named columns."""
    return hasattr(values, "columns") and (hasattr(values, "to_numpy") or hasattr(values, "column_names"))


def names_of(frame: Any) -> list[Any]:
    """What the columns are called."""
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def column_of(frame: Any, place: int) -> Any:
    """A column by its place: names may be there twice."""
    if hasattr(frame, "iloc"):
        return frame.iloc[:, place]
    return frame.column(place) if hasattr(frame, "column_names") else frame[:, place]


def plain_numbers(frame: Any) -> Array | None:
    """The frame as an array, where it holds nothing but numbers; None where features are yet to be made of it."""
    columns = [column_of(frame, place) for place in range(len(names_of(frame)))]
    if all(isinstance(getattr(column, "dtype", None), np.dtype) for column in columns):
        if any(column.dtype.kind not in "biuf" for column in columns):
            return None
        values = array(frame)
    else:
        found = [with_gaps(column) or (array(column), np.zeros(len(column), dtype=bool)) for column in columns]
        if any(_is_category(column) for column in columns):
            return None
        if any(values.dtype.kind not in "biuf" or missing.any() for values, missing in found):
            return None
        values = np.stack([values for values, _ in found], axis=1) if found else array(frame)
    return None if values.dtype.kind == "f" and np.isnan(values).any() else values


def engine_columns(frame: Any) -> list[tuple[str, Any]]:
    """The columns as the engine reads them: numbers with NaN where they are missing; or words, and whether it was said that
    they are categories."""
    columns = [(str(name), column_of(frame, place)) for place, name in enumerate(names_of(frame))]
    return [(name, _column(name, column)) for name, column in columns]


def _column(name: str, column: Any) -> Any:
    values, missing = with_gaps(column) or (array(column), np.zeros(len(column), dtype=bool))
    if values.dtype.kind in "Mm":
        raise ValueError(f"column {name!r} of X holds dates, of which no features are made; leave it out of X")
    if values.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    categories = _is_category(column)
    if not categories:
        try:
            numbers = np.asarray(values, dtype=np.float64)
            return np.where(missing, np.nan, numbers) if missing.any() else np.ascontiguousarray(numbers)
        except (TypeError, ValueError):
            pass
    words = [None if gone or _is_nothing(value) else str(value) for value, gone in zip(values.tolist(), missing)]
    return words, categories


def _is_category(column: Any) -> bool:
    """Whether somebody said that these are categories: pandas', Polars' and pyarrow's."""
    kind = getattr(column, "type", None) if hasattr(column, "drop_null") else getattr(column, "dtype", None)
    return hasattr(kind, "categories") or hasattr(kind, "index_type") or str(kind) == "Categorical"


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def row_names(X: Any) -> tuple[Any, list[Any] | None]:
    """X without the ids of its rows, and these: the index of pandas', or a first column that is called so."""
    if not is_frame(X):
        return X, None
    if hasattr(X, "index") and type(X.index).__name__ != "RangeIndex":
        return X, list(X.index)
    names = names_of(X)
    if not names or not is_id_name(str(names[0])):
        return X, None
    ids = _values(column_of(X, 0))
    if hasattr(X, "iloc"):
        return X.iloc[:, 1:], ids
    return (X.select(names[1:]) if hasattr(X, "column_names") else X[:, 1:]), ids


def is_edge_frame(adjacency: Any) -> bool:
    """Whether this is a table of edges."""
    return is_frame(adjacency) and edge_columns([str(name) for name in names_of(adjacency)]) is not None


def edge_frame(frame: Any, rows: list[Any] | None) -> tuple[list[Any] | None, dict[str | None, tuple[Array, Any]]]:
    """The nodes of a table of edges, None where it numbers them, and for each type of edges their ends and weights. `rows` are
    the names of the nodes where something else says so."""
    found = edge_columns([str(name) for name in names_of(frame)])
    assert found is not None
    source, target, weight, kind = found
    sources, targets = _values(column_of(frame, source)), _values(column_of(frame, target))
    numbered = rows is None and all(isinstance(end, int) for end in sources + targets)
    nodes = None if numbered else list(dict.fromkeys(sources + targets)) if rows is None else rows
    if nodes is None:
        ends = np.array([sources, targets], dtype=np.int64).reshape(2, -1)
    else:
        place = {node: k for k, node in enumerate(nodes)}
        if len(place) < len(nodes):
            twice = next(node for k, node in enumerate(nodes) if place[node] != k)
            raise ValueError(f"two rows of X are of the node {twice!r}")
        strangers = [end for end in sources + targets if end not in place]
        if strangers:
            raise ValueError(f"an edge names the node {strangers[0]!r}, of which X has no row")
        ends = np.array([[place[end] for end in sources], [place[end] for end in targets]], dtype=np.int64)
        ends = ends.reshape(2, -1)
    weights = None if weight is None else _weights(column_of(frame, weight))
    if kind is None:
        return nodes, {None: (ends, weights)}
    kinds = np.array([str(name) for name in _values(column_of(frame, kind))])
    parts: dict[str | None, tuple[Array, Any]] = {}
    for name in np.unique(kinds):
        own = kinds == name
        parts[str(name)] = (ends[:, own], None if weights is None else weights[own])
    return nodes, parts


def _values(column: Any) -> list[Any]:
    """The entries of a column, of which none is missing."""
    values, missing = with_gaps(column) or (array(column), np.zeros(len(column), dtype=bool))
    listed: list[Any] = values.tolist()
    gaps = [k for k, value in enumerate(listed) if missing[k] or _is_nothing(value)]
    if gaps:
        raise ValueError(f"column {getattr(column, 'name', None) or 'of edges or ids'} has nothing in row {gaps[0]}")
    return listed


def _weights(column: Any) -> Array:
    """The weights of edges; 1 where none is given."""
    values, missing = with_gaps(column) or (array(column), np.zeros(len(column), dtype=bool))
    return np.where(missing, 1.0, values) if missing.any() else values

"""Graphs: matrices, lists of edges, and those of networkx."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._types import Array
from .arrays import array, indices, is_sparse_tensor


@dataclass
class Edges:
    """A graph: the rows and columns of an adjacency matrix or the ends of edges, with weights."""

    parts: tuple[Any, Any, Any] | None
    as_matrix: bool = False
    nodes: list[Any] | None = None


def edges(adjacency: Any, rows: int | None) -> Edges:
    """Recognises a graph on so many nodes, if that is known."""
    if adjacency is None:
        return Edges(None)
    if hasattr(adjacency, "nodes") and hasattr(adjacency, "edges") and hasattr(adjacency, "adj"):
        return _networkx(adjacency)
    if hasattr(adjacency, "tocsr"):
        _check_square(adjacency.shape, rows)
        if adjacency.format == "coo":  # whose conversion would add up repeated edges
            order = np.argsort(adjacency.row, kind="stable")
            counts = np.bincount(adjacency.row, minlength=adjacency.shape[0])
            return _matrix(_offsets(counts), adjacency.col[order], adjacency.data[order])
        adjacency = adjacency.tocsr()
        return _matrix(adjacency.indptr, adjacency.indices, adjacency.data)
    if is_sparse_tensor(adjacency):
        adjacency = adjacency.detach().to_sparse_coo().coalesce()
        _check_square(adjacency.shape, rows)
        return _list(array(adjacency.indices()), adjacency.values())
    if isinstance(adjacency, (tuple, list)) and len(adjacency) == 2:
        first = array(adjacency[0])
        if first.ndim == 2 or adjacency[1] is None:
            return _list(first, adjacency[1])
    adjacency = array(adjacency)
    if adjacency.ndim != 2:
        raise ValueError(
            f"a graph is a matrix (nodes × nodes), an edge_index (2 × edges) or a networkx graph, not an array of "
            f"{adjacency.ndim} dimensions"
        )
    if adjacency.shape[0] == 2 and (adjacency.shape[1] != 2 or rows not in (None, 2)):
        return _list(adjacency, None)
    _check_square(adjacency.shape, rows)
    if adjacency.dtype.kind not in "biuf":
        raise ValueError(f"an adjacency matrix holds numbers, but this holds {adjacency.dtype}")
    counts = np.count_nonzero(adjacency, axis=1)
    return _matrix(_offsets(counts), np.nonzero(adjacency)[1], adjacency[adjacency != 0])


def _offsets(counts: Array) -> Array:
    """Where each row begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(counts)])


def _matrix(offsets: Any, columns: Any, data: Any) -> Edges:
    if data.dtype.kind not in "biuf":
        raise ValueError(f"an adjacency matrix holds numbers, but this holds {data.dtype}")
    with np.errstate(over="ignore"):
        weights = np.require(data, np.float32, ["C", "A"])
    return Edges((indices(offsets), indices(columns), weights), as_matrix=True)


def _list(ends: Array, weights: Any) -> Edges:
    if ends.ndim != 2 or ends.shape[0] != 2:
        raise ValueError(f"edge_index has two rows, the ends of each edge, but this has the shape {ends.shape}")
    if ends.size and ends.dtype.kind not in "iu":
        raise ValueError(f"edge_index holds node numbers, but this holds {ends.dtype}")
    if weights is not None:
        weights = _weights(array(weights).reshape(-1))
    return Edges((indices(ends[0]), indices(ends[1]), weights))


def _weights(values: Array) -> Array:
    """Weights of edges in single precision; what overflows is refused with its place."""
    if values.dtype.kind == "O":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"edge weights are real numbers: {error}") from None
    if values.size and values.dtype.kind not in "biuf":
        raise ValueError(f"edge weights are real numbers, but these are {values.dtype}")
    with np.errstate(over="ignore"):
        return np.require(values, np.float32, ["C", "A"])


def _networkx(graph: Any) -> Edges:
    nodes = list(graph.nodes)
    place = {node: k for k, node in enumerate(nodes)}
    triples = [(place[a], place[b], 1.0 if w is None else w) for a, b, w in graph.edges(data="weight")]
    ends = np.array([(a, b) for a, b, _ in triples], dtype=np.int64).reshape(-1, 2)
    weights = _weights(np.array([w for _, _, w in triples]))
    return Edges((indices(ends[:, 0]), indices(ends[:, 1]), weights), nodes=nodes)


def _check_square(shape: tuple[int, ...], rows: int | None) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        size = " × ".join(map(str, shape))
        transposed = "; a list of edges is 2 × edges, transpose it" if len(shape) == 2 and shape[1] == 2 else ""
        raise ValueError(f"an adjacency matrix is square, but this is {size}{transposed}")
    if rows is not None and shape[0] != rows:
        raise ValueError(f"the graph has {shape[0]} nodes, but X has {rows} rows; each node needs one")

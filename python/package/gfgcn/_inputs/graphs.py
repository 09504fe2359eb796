"""Graphs: matrices, lists of edges, and those of networkx."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .._estimator import warn
from .._gfgcn import Graph
from .._graph import Graph as CheckedGraph
from .._settings import Workers
from .._types import Array
from .arrays import array, indices, is_sparse_tensor
from .frames import edge_frame, is_edge_frame


class Arcs(NamedTuple):
    """Edges as PyTorch Geometric lists them: those of an undirected graph in both directions."""

    ends: Any
    weights: Any


@dataclass
class Edges:
    """A graph: for each kind of edges the rows and columns of an adjacency matrix or their ends, with weights."""

    parts: list[dict[str, Any]]
    nodes: list[Any] | None = None
    directed: bool = False
    rows: int | None = None
    # Where it is checked already.
    engine: Graph | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is no graph."""
        return not self.parts and self.engine is None

    def built(self, rows: int, workers: Workers, hints: bool = False) -> Graph:
        """For the engine: checked and converted, unless it is already. Says what had to be repaired, and with `hints` how
        directions are kept."""
        if self.engine is not None:
            return self.engine
        graph = Graph.build(self.parts, self.directed, rows, workers)
        for note in graph.notes:
            one_way = hints and note.endswith("the other was added")
            warn(f"{note}; directed=True keeps the directions" if one_way else note, GraphWarning)
        return graph


class GraphWarning(UserWarning):
    """A graph was repaired: edges merged, dropped or added."""


def edges(
    adjacency: Any, rows: int | None, directed: bool | None = None, names: list[Any] | None = None
) -> Edges:
    """Recognises a graph on so many nodes, if that is known. Where nobody says whether it is directed, networkx does; all
    others are not. A table of edges calls the nodes by their names."""
    if adjacency is None:
        return Edges([], rows=rows)
    if isinstance(adjacency, CheckedGraph):
        return _checked(adjacency, rows, directed)
    if isinstance(adjacency, dict) and not hasattr(adjacency, "tocsr"):  # SciPy's dok_array is a dict
        return _relations(adjacency, rows, directed)
    if isinstance(adjacency, _Ordered):
        return _networkx(adjacency.graph, adjacency.order, directed)
    if _is_networkx(adjacency):
        return _networkx(adjacency, list(adjacency.nodes), directed)
    if is_edge_frame(adjacency):
        nodes, kinds = edge_frame(adjacency, names)
        parts = [{**_list(*listed).parts[0], "name": name} for name, listed in kinds.items()]
        return Edges(parts, nodes, bool(directed), rows if nodes is None else len(nodes))
    found = _arcs(adjacency, rows, directed) if isinstance(adjacency, Arcs) else _arrays(adjacency, rows)
    return replace(found, directed=bool(directed))


def node_ids(nodes: list[Any]) -> list[str] | None:
    """What a model calls the nodes of a graph, by which it knows them again in any order; None where no text tells them apart."""
    for text in (str, repr):
        ids = [text(node) for node in nodes]
        if len(set(ids)) == len(ids):
            return ids
    return None


def in_order(adjacency: Any, names: list[Any] | None) -> Any:
    """A graph of networkx with its nodes in the order of their names; any other as it is."""
    if names is None or not _is_networkx(adjacency):
        return adjacency
    if len(names) != len(adjacency.nodes) or set(names) != set(adjacency.nodes):
        raise ValueError("nodes are not those of the graph: each of them must be named, once")
    return _Ordered(adjacency, names)


class _Ordered(NamedTuple):
    """A graph of networkx, and the order of its nodes."""

    graph: Any
    order: list[Any]


def _checked(graph: CheckedGraph, rows: int | None, directed: bool | None) -> Edges:
    if directed is not None and directed != graph.directed:
        raise ValueError(f"directed is {directed}, but the Graph was made with directed={graph.directed}; make another one")
    _check_square(graph.shape, rows)
    return Edges([], graph.nodes, graph.directed, graph.n_nodes, graph._engine)


def _is_networkx(adjacency: Any) -> bool:
    return hasattr(adjacency, "nodes") and hasattr(adjacency, "edges") and hasattr(adjacency, "adj")


def _relations(adjacency: dict[Any, Any], rows: int | None, directed: bool | None) -> Edges:
    """Several kinds of edges on the same nodes, whatever order they come in."""
    if not adjacency:
        raise ValueError("a dict of relations has a graph for each name, but this one is empty")
    for name, graph in adjacency.items():
        if not isinstance(name, str) or not name:
            raise ValueError(f"relations have names, but one is called {name!r}")
        if graph is None or (isinstance(graph, dict) and not hasattr(graph, "tocsr")):
            raise ValueError(f"the relation {name!r} is no graph")
    order, found = None, {}
    for name in sorted(adjacency):
        graph = adjacency[name]
        if _is_networkx(graph):
            order = list(graph.nodes) if order is None else order
            if set(order) != set(graph.nodes):
                raise ValueError(f"the relation {name!r} has other nodes than the others; add all nodes to each of them")
            found[name] = _networkx(graph, order, directed)
        else:
            found[name] = edges(graph, rows, directed)
    if len({part.directed for part in found.values()}) > 1:
        way = {part.directed: name for name, part in found.items()}
        raise ValueError(
            f"the relation {way[True]!r} is directed and {way[False]!r} is not; say which with directed=True or False"
        )
    parts = [{**part, "name": name} for name in found for part in found[name].parts]
    sizes = [part.rows for part in found.values() if part.rows is not None]
    return Edges(parts, order, any(part.directed for part in found.values()), max(sizes, default=None))


def _arcs(arcs: Arcs, rows: int | None, directed: bool | None) -> Edges:
    """What lacks its other direction is said as it is of a matrix, unless somebody said what is meant."""
    ends = array(arcs.ends)
    listed = _list(ends, arcs.weights)
    inside = rows is not None and ends.size > 0 and 0 <= ends.min() and ends.max() < rows
    weights = listed.parts[0]["weights"]
    if directed is not None or not inside or (weights is not None and len(weights) != ends.shape[1]):
        return listed
    order = np.argsort(ends[0], kind="stable")
    counts = np.bincount(ends[0], minlength=rows or 0)
    values = np.ones(len(order), dtype=np.float32) if weights is None else weights[order]
    return _matrix(_offsets(counts), ends[1][order], values)


def _arrays(adjacency: Any, rows: int | None) -> Edges:
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
    rows = indices(offsets)
    return Edges([_part(rows, indices(columns), weights, as_matrix=True)], rows=len(rows) - 1)


def _part(rows: Array, columns: Array, weights: Array | None, as_matrix: bool = False) -> dict[str, Any]:
    return {"name": None, "as_matrix": as_matrix, "rows": rows, "columns": columns, "weights": weights}


def _list(ends: Array, weights: Any) -> Edges:
    if ends.ndim != 2 or ends.shape[0] != 2:
        raise ValueError(f"edge_index has two rows, the ends of each edge, but this has the shape {ends.shape}")
    if ends.size and ends.dtype.kind not in "iu":
        raise ValueError(f"edge_index holds node numbers, but this holds {ends.dtype}")
    if weights is not None:
        weights = _weights(array(weights).reshape(-1))
    return Edges([_part(indices(ends[0]), indices(ends[1]), weights)])


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


def _networkx(graph: Any, nodes: list[Any], directed: bool | None) -> Edges:
    place = {node: k for k, node in enumerate(nodes)}
    triples = [(place[a], place[b], 1.0 if w is None else w) for a, b, w in graph.edges(data="weight")]
    ends = np.array([(a, b) for a, b, _ in triples], dtype=np.int64).reshape(-1, 2)
    weights = _weights(np.array([w for _, _, w in triples]))
    directed = bool(graph.is_directed()) if directed is None else directed
    if directed and not graph.is_directed():  # each edge is there once, and goes both ways
        ends, weights = np.concatenate([ends, ends[:, ::-1]]), np.concatenate([weights, weights])
    return Edges([_part(indices(ends[:, 0]), indices(ends[:, 1]), weights)], nodes, directed, len(nodes))


def _check_square(shape: tuple[int, ...], rows: int | None) -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        size = " × ".join(map(str, shape))
        transposed = "; a list of edges is 2 × edges, transpose it" if len(shape) == 2 and shape[1] == 2 else ""
        raise ValueError(f"an adjacency matrix is square, but this is {size}{transposed}")
    if rows is not None and shape[0] != rows:
        raise ValueError(f"the graph has {shape[0]} nodes, but X has {rows} rows; each node needs one")

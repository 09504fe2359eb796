"""Stores: folders of plain arrays that are mapped, for graphs of any size."""

from __future__ import annotations

import json
import os
import pathlib
from functools import cached_property
from typing import Any, Iterable

import numpy as np

from ._gfgcn import Dataset as _Dataset
from ._gfgcn import StoreWriter
from ._types import Array

# Edges and feature values that are handed on at a time.
_PIECE = 1 << 20


class Store:
    """A store, mapped: nothing of the graph and the features is in memory but what is used.

    Estimators, ``evaluate`` and ``tune`` take it in the place of a dataset, and read it where it is.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = pathlib.Path(path).absolute()
        if not self.path.is_dir():
            raise FileNotFoundError(f"{path}: there is no such folder")
        if not (self.path / "meta.json").exists() and not (self.path / "offsets.npy").exists():
            raise ValueError(f"{path}: is no store; datasets.load reads other folders")
        self.engine = _Dataset.open(str(self.path))
        """For the engine."""
        self.meta: dict[str, Any] = json.loads((self.path / "meta.json").read_text(encoding="utf-8"))
        """What the store says of itself."""

    def array(self, name: str) -> Array:
        """One of the arrays, by its path in the folder, such as ``"neighbours.npy"``; mapped."""
        mapped: Array = np.load(self.path / name, mmap_mode="r", allow_pickle=False)
        return mapped

    @property
    def name(self) -> str:
        """What it is called."""
        return self.engine.name

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes and features."""
        return self.meta["nodes"], self.meta["features"].get("columns", 0)

    @property
    def directed(self) -> bool:
        """Whether edges go one way."""
        return self.engine.directed

    @cached_property
    def offsets(self) -> Array:
        """Where each node's neighbours begin, and where the last one's end."""
        return self.array("offsets.npy")

    @cached_property
    def neighbours(self) -> Array:
        """The neighbours of all nodes, one after the other; every edge is there in both directions."""
        return self.array("neighbours.npy")

    @cached_property
    def weights(self) -> Array | None:
        """One per neighbour; None where all are 1."""
        return self.array("weights.npy") if "weights.npy" in self.meta["files"] else None

    @cached_property
    def blocks(self) -> list[Array]:
        """Dense features as blocks of columns, nodes × columns each, from left to right."""
        dense = self.meta["features"]["stored"] == "dense"
        names = sorted(name for name in self.meta["files"] if name.startswith("features/")) if dense else []
        return [self.array(name) for name in names]

    def columns(self, start: int, stop: int) -> Array:
        """Some columns of dense features, nodes × columns: a view where they are in one block, else a copy."""
        parts, first = [], 0
        for block in self.blocks:
            low, high = max(start - first, 0), min(stop - first, block.shape[1])
            if low < high:
                parts.append(block[:, low:high])
            first += block.shape[1]
        if not parts:
            return np.empty((self.shape[0], 0), dtype=np.float32)
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    @property
    def X(self) -> Any:
        """All features: mapped if they are in one block or sparse, else a copy in memory; None where there are none."""
        kind = self.meta["features"]["stored"]
        if kind == "none":
            return None
        if kind == "dense":
            return self.columns(0, self.shape[1])
        from scipy.sparse import csr_array

        names = ("values", "columns", "offsets")
        values, columns, offsets = (self.array(f"features/{name}.npy") for name in names)
        return csr_array((values, columns.view(np.int32), offsets.view(np.int64)), shape=self.shape)

    @property
    def adjacency(self) -> Any:
        """The adjacency matrix in compressed rows; of an undirected graph every edge in both directions."""
        from scipy.sparse import csr_array

        stem = "arcs/out/" if self.directed else ""
        offsets, neighbours = self.array(f"{stem}offsets.npy"), self.array(f"{stem}neighbours.npy")
        own = f"{stem}weights.npy"
        weights = self.array(own) if own in self.meta["files"] else np.ones(len(neighbours), dtype=np.float32)
        nodes = self.shape[0]
        return csr_array((weights, neighbours.view(np.int32), offsets.view(np.int64)), shape=(nodes, nodes))

    @cached_property
    def y(self) -> Array:
        """As in :class:`Dataset`: classes, label sets or values."""
        return np.asarray(self.engine.targets())

    @cached_property
    def class_names(self) -> Array:
        """The names of the classes, the labels, or the columns of values."""
        return np.array(self.engine.target_names)

    @property
    def feature_names(self) -> list[str] | None:
        """The names of the features, where there are some."""
        return self.engine.feature_names

    @property
    def node_ids(self) -> list[str] | None:
        """The names of the nodes, where there are some."""
        return self.engine.node_ids

    @cached_property
    def _masks(self) -> list[Array | None]:
        if self.engine.split is None:
            return [None, None, None]
        masks: list[Array | None] = []
        for nodes in self.engine.split:
            mask = np.zeros(self.shape[0], dtype=bool)
            mask[nodes] = True
            masks.append(mask)
        return masks

    @property
    def train_mask(self) -> Array | None:
        """The training nodes of the first split, if there is one."""
        return self._masks[0]

    @property
    def val_mask(self) -> Array | None:
        """Its validation nodes."""
        return self._masks[1]

    @property
    def test_mask(self) -> Array | None:
        """Its test nodes."""
        return self._masks[2]

    def __repr__(self) -> str:
        nodes, features = self.shape
        return f"<store {self.path.name}: {nodes} nodes, {self.meta['edges']} edges, {features} features>"


def open(path: str | os.PathLike[str]) -> Store:
    """Opens a store: its arrays are mapped, and read from the disk as they are used.

    >>> import tempfile, pathlib
    >>> from gfgcn import datasets
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "cora.store"
    ...     datasets.load("cora").save(path, format="store")
    ...     datasets.open(path)
    <store cora.store: 2708 nodes, 5278 edges, 1433 features>
    """
    return Store(path)


def write_store(
    path: str | os.PathLike[str],
    *,
    adjacency: Any = None,
    edges: Iterable[Any] | None = None,
    features: Any = None,
    y: Any = None,
    nodes: int | None = None,
    columns: int | None = None,
    edge_count: int | None = None,
    directed: bool = False,
    weighted: bool | None = None,
    split: tuple[Any, Any, Any] | None = None,
    class_names: Any = None,
    node_ids: list[str] | None = None,
    feature_names: list[str] | None = None,
    overwrite: bool = False,
) -> Store:
    """Makes a store from arrays, piece by piece: neither the edges nor the features are ever copied as a whole, so arrays may be
    mapped from files themselves, and larger than the memory.

    Parameters
    ----------
    adjacency
        A SciPy matrix in compressed rows, nodes × nodes; or:
    edges
        Pieces of a list of edges: arrays of two rows, or pairs of such an array and weights. Each edge once or in both directions,
        in any order.
    features
        An array, nodes × columns, or pieces of its rows, in order (which needs ``columns``); None for none.
    y
        Classes, -1 for unlabelled; a matrix of labels; or values, as estimators take them.
    nodes, columns
        How many there are, where no array says so.
    edge_count
        About how many edges there are, if ``edges`` has many: they are sorted on the disk, in parts of that.
    directed
        Whether edges go from the first row to the second only.
    weighted
        Whether edges have weights; known of ``adjacency``.
    split
        Training, validation and test nodes, as numbers or masks.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from gfgcn import datasets
    >>> pieces = (np.array([[k, k + 1], [k + 1, k + 2]]) for k in range(0, 8, 2))
    >>> rows = (np.ones((5, 3), dtype=np.float32) for _ in range(2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     datasets.write_store(f"{folder}/path.store", edges=pieces, features=rows, nodes=10, columns=3)
    <store path.store: 10 nodes, 8 edges, 3 features>
    """
    from . import _inputs

    if (adjacency is None) == (edges is None):
        raise ValueError("a store has a graph: pass adjacency or edges, one of them")
    if hasattr(features, "tocsr"):
        raise ValueError("sparse features fit into memory: datasets.Dataset.save(path, format=\"store\") writes them")
    shape = getattr(features, "shape", None)
    if shape is not None and len(shape) != 2:
        raise ValueError(f"features are an array of nodes × columns, not of {len(shape)} dimensions")
    sizes = [getattr(adjacency, "shape", (None,))[0], None if shape is None else shape[0], nodes]
    known = [size for size in sizes if size is not None]
    if not known:
        raise ValueError("nothing says how many nodes there are; pass nodes")
    if len(set(known)) > 1:
        raise ValueError(f"the graph has {known[0]} nodes, but there are {known[1]}: each node needs a row of features")
    rows = int(known[0])
    width = shape[1] if shape is not None else 0 if features is None else columns
    if width is None:
        raise ValueError("features that come in pieces need columns, their number")
    if adjacency is not None:
        adjacency = adjacency.tocsr()
        weighted = not all(np.all(adjacency.data[k : k + _PIECE] == 1) for k in range(0, len(adjacency.data), _PIECE))
        edge_count = adjacency.nnz
        edges = _rows(adjacency)
    pieces, first = iter(edges or ()), None
    if weighted is None:
        first = next(pieces, None)
        weighted = isinstance(first, tuple)
    writer = StoreWriter(os.fspath(path), rows, edge_count or 1 << 24, int(width), weighted, directed, overwrite)
    for piece in pieces if first is None else _chain(first, pieces):
        ends, weights = piece if isinstance(piece, tuple) else (piece, None)
        ends = np.asarray(ends)
        if ends.ndim != 2 or ends.shape[0] != 2 or (ends.size and ends.dtype.kind not in "iu"):
            raise ValueError(f"a piece of edges has two rows of node numbers, but this has {ends.dtype} of shape {ends.shape}")
        weights = None if weights is None else np.ascontiguousarray(weights, dtype=np.float32)
        starts, stops = (np.ascontiguousarray(end, dtype=np.int64) for end in ends)
        writer.add_edges(starts, stops, weights)
    if shape is not None:
        step = max(1, _PIECE // max(1, int(width)))
        whole = features
        features = (whole[k : k + step] for k in range(0, rows, step))
    for part in features if features is not None else ():
        writer.add_rows(np.ascontiguousarray(part, dtype=np.float32))
    targets = None
    if y is not None:
        kind = "values" if np.asarray(y).dtype.kind == "f" else "classes"
        given = _inputs.Given(None, y=y, class_names=class_names)
        targets = _inputs.targets(given, kind, rows, None).engine()
    parts = None if split is None else [_nodes(part) for part in split]
    writer.finish(targets, parts, node_ids, feature_names)
    return Store(path)


def _chain(first: Any, rest: Iterable[Any]) -> Iterable[Any]:
    yield first
    yield from rest


def _nodes(part: Any) -> list[int]:
    part = np.asarray(part)
    nodes: list[int] = (np.flatnonzero(part) if part.dtype == bool else part).tolist()
    return nodes


def _rows(adjacency: Any) -> Iterable[Any]:
    """The entries of a matrix as pieces of a list of edges."""
    indptr, indices = adjacency.indptr, adjacency.indices
    start = 0
    while start < len(indptr) - 1:
        stop = max(start + 1, int(np.searchsorted(indptr, indptr[start] + _PIECE, side="right")) - 1)
        begin, end = int(indptr[start]), int(indptr[stop])
        froms = np.repeat(np.arange(start, stop), np.diff(indptr[start : stop + 1]))
        yield np.stack([froms, indices[begin:end].astype(np.int64)]), adjacency.data[begin:end]
        start = stop

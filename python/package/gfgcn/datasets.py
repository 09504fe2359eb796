"""Datasets: three that are built in, and files in every format that gfgcn reads."""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._gfgcn import Dataset as _Dataset
from ._settings import Workers
from ._types import Array


@dataclass(repr=False)
class Dataset:
    """A graph with features and labels, as arrays."""

    name: str
    """What it is called."""
    X: Any
    """Features: ``scipy.sparse.csr_array`` or array of float32 (nodes, features)."""
    y: Array
    """Positions in ``class_names`` (nodes,), -1 for unlabelled; or label sets (nodes, labels) of 0 and 1, rows of -1 for
    unlabelled; or values (nodes, columns), rows of NaN for unknown."""
    adjacency: Any
    """``scipy.sparse.csr_array`` (nodes, nodes), every edge in both directions unless the graph is directed."""
    class_names: Array
    """The names of the classes, the labels, or the columns of values."""
    train_mask: Array | None = None
    """The training nodes of the split that came with the data."""
    val_mask: Array | None = None
    """Its validation nodes."""
    test_mask: Array | None = None
    """Its test nodes."""
    feature_names: list[str] | None = None
    """The names of the features, where the data give them."""
    node_ids: list[str] | None = None
    """The names of the nodes, where the data give them."""
    notes: list[str] = field(default_factory=list)
    """What was repaired while reading."""
    directed: bool = False
    """Whether edges go from row to column only."""
    relations: dict[str, Any] | None = None
    """An adjacency matrix for each kind of edges, where there are several."""

    @property
    def y_train(self) -> Array:
        """The labels of the training nodes; -1 for all others, NaN where y are values."""
        if self.train_mask is None:
            raise AttributeError(f"{self.name} comes without a split; hide labels of y with -1")
        hidden = np.nan if self.y.dtype.kind == "f" else -1
        return np.where(self.train_mask if self.y.ndim == 1 else self.train_mask[:, None], self.y, hidden)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False, format: str = "csv") -> None:
        """Writes an ``.npz`` archive, or a folder of tables in a format: "csv", "tsv" or "parquet".

        >>> import tempfile, pathlib
        >>> from gfgcn import datasets
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     datasets.load("cora").save(pathlib.Path(folder) / "cora.npz")
        ...     datasets.load(pathlib.Path(folder) / "cora.npz")
        <cora: 2708 nodes, 5278 edges, 1433 features, 7 classes, 2708 labelled>
        """
        from . import _inputs

        kind = "values" if self.y.dtype.kind == "f" else "classes"
        given = _inputs.unpack(self, None, None)
        given.train = given.validation = None
        data = _inputs.check(given, kind).dataset(Workers.of(None, "cpu"))
        masks = (self.train_mask, self.val_mask, self.test_mask)
        split = None
        if self.train_mask is not None:
            split = [[] if mask is None else np.flatnonzero(mask).tolist() for mask in masks]
        data.named(self.name, self.node_ids, split).save(os.fspath(path), overwrite, format)

    def to_networkx(self, features: bool = False) -> Any:
        """A networkx graph: nodes by their names, or numbers where they have none, with ``label`` (or ``labels``, or ``values``)
        where it is known, and with ``x``, the features, if asked for; edges with ``weight``.

        >>> from gfgcn import datasets
        >>> graph = datasets.load("cora").to_networkx()
        >>> len(graph), graph.nodes[0]["label"]
        (2708, 'Neural_Networks')
        """
        import networkx

        graph = networkx.DiGraph() if self.directed else networkx.Graph()
        names: list[Any] = list(range(len(self.y))) if self.node_ids is None else self.node_ids
        rows = None if self.X is None or not features else np.asarray(self.X.todense() if hasattr(self.X, "todense") else self.X)
        for k, name in enumerate(names):
            graph.add_node(name, **self._known(k), **({} if rows is None else {"x": rows[k]}))
        coo = self.adjacency.tocoo()
        for a, b, weight in zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist()):
            if self.directed or a <= b:
                graph.add_edge(names[a], names[b], weight=weight)
        return graph

    def _known(self, node: int) -> dict[str, Any]:
        own = self.y[node]
        if self.y.dtype.kind == "f":
            return {} if np.isnan(own).any() else {"values": np.atleast_1d(own)}
        if self.y.ndim == 1:
            return {} if own < 0 else {"label": str(self.class_names[own])}
        return {} if (own < 0).any() else {"labels": [str(name) for name in self.class_names[own == 1]]}

    def to_pyg(self) -> Any:
        """PyTorch Geometric's ``Data``: ``x``, ``edge_index`` with every arc, ``edge_weight``, ``y`` and the masks."""
        import torch
        from torch_geometric.data import Data

        coo = self.adjacency.tocoo()
        dense = None if self.X is None else np.asarray(self.X.todense() if hasattr(self.X, "todense") else self.X)
        data = Data(
            x=None if dense is None else torch.from_numpy(dense),
            edge_index=torch.from_numpy(np.stack([coo.row, coo.col]).astype(np.int64)),
            edge_weight=torch.from_numpy(coo.data),
            y=torch.from_numpy(self.y),
        )
        data.num_nodes = len(self.y)
        for name in ("train_mask", "val_mask", "test_mask"):
            if getattr(self, name) is not None:
                setattr(data, name, torch.from_numpy(getattr(self, name)))
        return data

    def _repr_html_(self) -> str:
        names = ", ".join(str(name) for name in self.class_names[:12]) + (", …" if len(self.class_names) > 12 else "")
        rows = [("dataset", repr(self).strip("<>")), ("classes", names)]
        if self.train_mask is not None:
            parts = [("train", self.train_mask), ("validation", self.val_mask), ("test", self.test_mask)]
            rows.append(("split", ", ".join(f"{int(mask.sum())} {part}" for part, mask in parts if mask is not None)))
        rows += [("note", note) for note in self.notes]
        cells = "".join(f"<tr><th>{head}</th><td>{html.escape(text)}</td></tr>" for head, text in rows)
        return f"<table>{cells}</table>"

    def __repr__(self) -> str:
        nodes, features = self.X.shape if self.X is not None else (len(self.y), 0)
        edges = f"{self.adjacency.nnz} arcs" if self.directed else f"{self.adjacency.nnz // 2} edges"
        kind = "values" if self.y.dtype.kind == "f" else "classes" if self.y.ndim == 1 else "labels"
        unknown = np.isnan(self.y) if kind == "values" else self.y < 0
        known = nodes - int((unknown if self.y.ndim == 1 else unknown.any(axis=1)).sum())
        return (
            f"<{self.name}: {nodes} nodes, {edges}, {features} features, {len(self.class_names)} {kind}, "
            f"{known} {'known' if kind == 'values' else 'labelled'}>"
        )


def load(
    source: str | os.PathLike[str],
    data_dir: str | os.PathLike[str] | None = None,
    *,
    directed: bool = False,
    id_column: str | None = None,
    label_column: str | None = None,
    feature_columns: list[str] | None = None,
    drop_columns: list[str] | None = None,
    source_column: str | None = None,
    target_column: str | None = None,
    weight_column: str | None = None,
    type_column: str | None = None,
    separator: str | None = None,
) -> Dataset:
    """Loads a dataset by name or path.

    Parameters
    ----------
    source
        "cora", "citeseer" or "pubmed"; the name of a dataset in the data folder; an ``.npz``, ``.graphml``, ``.gexf``, node-link
        ``.json`` or ``.mat`` file, or a list of edges; a folder with tables of edges, features and labels (``.csv``,
        ``.parquet``, …); or a folder of Planetoid, OGB, MUSAE, KarateClub or Neo4j.
    data_dir
        The data folder; by default the one of the environment variable ``GFGCN_DATA`` or the user's.
    directed
        Whether edges keep their directions, from source to target.
    id_column, label_column, feature_columns, drop_columns, source_column, target_column, weight_column, type_column, separator
        Which columns of tables say what, where their names do not: by name, or by number from 1.

    Examples
    --------
    >>> from gfgcn import datasets
    >>> datasets.load("cora")
    <cora: 2708 nodes, 5278 edges, 1433 features, 7 classes, 2708 labelled>
    """
    single = {
        "id": id_column,
        "label": label_column,
        "source": source_column,
        "target": target_column,
        "weight": weight_column,
        "type": type_column,
        "separator": separator,
    }
    columns = {role: [name] for role, name in single.items() if name is not None}
    columns.update({"features": list(feature_columns or []), "dropped": list(drop_columns or [])})
    folder = None if data_dir is None else os.fspath(data_dir)
    return _arrays(_Dataset.open(os.fspath(source), folder, directed, columns))


def download(
    name: str, data_dir: str | os.PathLike[str] | None = None, *, force: bool = False
) -> Dataset:
    """Downloads a dataset by name into the data folder, unless it is there, and loads it.

    By the list of the command line's ``gfgcn data get``: its addresses, sizes and hashes. ``available()`` names them.
    """
    if name not in available():
        raise ValueError(f"there is no dataset {name!r} to download; there are {', '.join(available())}")
    options = [] if data_dir is None else ["--data-dir", os.fspath(data_dir)]
    if force:
        options.append("--force")
    done = _command_line("data", "get", name, *options)
    if done.returncode:
        raise OSError(done.stderr.strip().removeprefix("error: "))
    return load(name, data_dir)


def available() -> list[str]:
    """The datasets that can be downloaded.

    >>> from gfgcn import datasets
    >>> "cora-ml" in datasets.available()
    True
    """
    listed = json.loads(_command_line("data", "list", "--json").stdout)
    return [row["name"] for row in listed["datasets"] if row["name"] not in names()]


def _command_line(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "gfgcn", *arguments], capture_output=True, text=True)


def read_tables(
    edges: str | os.PathLike[str],
    features: str | os.PathLike[str],
    labels: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Reads tables of edges (source, target[, weight]), features (id, columns) and labels (id, label).

    Each is a ``.csv``, ``.tsv`` or ``.parquet`` file (text also ``.gz``), or a MatrixMarket file. Nodes keep the order of
    the features; ``node_ids`` has their names.
    """
    tables = [os.fspath(edges), os.fspath(features), None if labels is None else os.fspath(labels)]
    return _arrays(_Dataset.read_tables(*tables))


def names() -> list[str]:
    """The datasets that are built in.

    >>> from gfgcn import datasets
    >>> datasets.names()
    ['cora', 'citeseer', 'pubmed']
    """
    return _Dataset.bundled()


def _arrays(data: _Dataset) -> Dataset:
    from scipy.sparse import csr_array

    y = data.targets()
    rows = len(y)
    features = data.features()
    if isinstance(features, tuple):
        (indptr, indices, values), columns = features
        features = csr_array((values, indices, indptr), shape=(rows, columns))

    def matrix(rows_of_it: Any) -> Any:
        indptr, indices, weights = rows_of_it
        return csr_array((weights, indices, indptr), shape=(rows, rows))

    split = data.split
    masks: list[Array | None] = [None, None, None]
    if split is not None:
        for k, nodes in enumerate(split):
            mask = np.zeros(rows, dtype=bool)
            mask[nodes] = True
            masks[k] = mask
    return Dataset(
        name=data.name,
        X=features if features.shape[1] else None,
        y=y,
        adjacency=matrix(data.adjacency()),
        class_names=np.array(data.target_names),
        train_mask=masks[0],
        val_mask=masks[1],
        test_mask=masks[2],
        feature_names=data.feature_names,
        node_ids=data.node_ids,
        notes=data.notes,
        directed=data.directed,
        relations={name: matrix(arrays) for name, arrays in data.relations()} or None,
    )

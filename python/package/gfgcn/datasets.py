"""Datasets: three that are built in, and files in every format that gfgcn reads."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._gfgcn import Dataset as _Dataset
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


def load(source: str | os.PathLike[str], data_dir: str | os.PathLike[str] | None = None) -> Dataset:
    """Loads a dataset by name or path.

    Parameters
    ----------
    source
        "cora", "citeseer" or "pubmed"; the name of a dataset in the data folder; an ``.npz`` file; a folder with tables
        of edges, features and labels (``.csv``, ``.parquet``, …); or a raw Planetoid folder.
    data_dir
        The data folder; by default the one of the environment variable ``GFGCN_DATA`` or the user's.

    Examples
    --------
    >>> from gfgcn import datasets
    >>> datasets.load("cora")
    <cora: 2708 nodes, 5278 edges, 1433 features, 7 classes, 2708 labelled>
    """
    return _arrays(_Dataset.open(os.fspath(source), None if data_dir is None else os.fspath(data_dir)))


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

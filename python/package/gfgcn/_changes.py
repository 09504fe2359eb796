"""Learning more and forgetting, exactly."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, TypeVar

import numpy as np

from . import _inputs
from ._estimator import UNCHANGED
from ._gfgcn import Dataset, forget, update
from ._learner import Learner, features_of, node_numbers
from ._settings import Workers, flag
from ._types import Array

Self = TypeVar("Self", bound="Changeable")


class Data(NamedTuple):
    """A graph as the engine has it, the names of its nodes where they have some, and how many they are."""

    dataset: Dataset
    names: list[Any] | None
    rows: int


class Changeable(Learner):
    """A learner that was fitted with ``keep_training=True`` can be changed: the result is what fitting all of it anew gives."""

    changes_: dict[str, Any]
    receipt_: dict[str, Any]

    def partial_fit(
        self: Self,
        X: Any = None,
        y: Any = None,
        adjacency: Any = None,
        *,
        classes: Any = None,
        directed: bool | None = None,
    ) -> Self:
        """Learns new and corrected labels, and the graph as it is now.

        The result is what ``fit`` on everything known so far gives, λ and classes included, to the last bit; new labels
        need no filtering. ``changes_`` says what has changed.

        Parameters
        ----------
        X, adjacency, directed
            The data as they are now; None for the training graph. Nodes of a networkx graph are those of the same name, in
            whatever order they come; others have new ones after those that were there. Labels that come with a dataset are
            learnt, too, as far as they are in its ``train_mask``.
        y : as of ``fit``, or dict from node to label, optional
            What is new, or corrected: nodes that it says nothing about stay as they are known. The columns of a data frame of
            label sets may be others than before: labels that are not among them a node does not have.
        classes : array, optional
            All classes that there may be: a label of another one is refused. Classes need not be announced.

        >>> import numpy as np
        >>> from gfgcn import GradientFreeClassifier
        >>> path = np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
        >>> model = GradientFreeClassifier("sgc", depth=2, keep_training=True)
        >>> model = model.fit(np.eye(6), [0, -1, -1, -1, -1, 1], adjacency=path)
        >>> model.partial_fit(y={3: 0}).predict()
        array([0, 0, 0, 0, 1, 1])
        """
        if not self.__sklearn_is_fitted__():
            given = _inputs.unpack(X, y, adjacency, directed)
            _check_classes(classes, self._learn(given, None, keep=True).targets)
            return self
        workers, kind = Workers.of(self.n_jobs, self.device), self._kind
        if X is None and adjacency is None:
            given = _inputs.Given(None, y)
        else:
            given = _inputs.unpack(X, y, adjacency, directed)
        # Features that have names may come and go with the nodes that have them.
        named = hasattr(self, "feature_names_in_")
        data, names, rows = self._data_of(X, adjacency, directed, new_features=named)
        targets = None
        if given.y is not None:
            by_number = isinstance(given.y, dict) and names is None
            targets = _inputs.targets(given, kind, rows, list(range(rows)) if by_number else names)
            _check_classes(classes, targets)
            if given.train is not None:
                targets = targets.only(_inputs.mask(given.train, rows, "training"))
        changed = update(self._model, data, None if targets is None else self._engine(targets), workers)
        self._change(*changed, names=names, rows=rows, targets=targets)
        return self

    def forget(
        self: Self,
        X: Any = None,
        adjacency: Any = None,
        *,
        labels_of: Any = None,
        nodes: Any = None,
        edges: Any = None,
        directed: bool | None = None,
        verify: bool = True,
    ) -> Self:
        """Forgets labels, nodes or edges: the result is what ``fit`` without them gives, λ and classes included.

        ``receipt_`` says what was removed, the hashes before and after, and how it was checked that nothing is left.

        Parameters
        ----------
        X, adjacency, directed
            The data that the model was fitted on, or None for the training graph. A loaded model does not have it.
        labels_of : node numbers, names in a networkx graph, or a mask, optional
            Nodes whose labels or values are forgotten; they stay in the graph.
        nodes : the same, optional
            Nodes that are forgotten with their edges, features and labels. The others move up.
        edges : array (2, edges), or list of pairs, optional
        verify : bool
            Whether a model is fitted from scratch beside it, and compared.

        >>> import numpy as np
        >>> from gfgcn import GradientFreeClassifier
        >>> path = np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
        >>> model = GradientFreeClassifier("sgc", depth=2, keep_training=True)
        >>> model = model.fit(np.eye(6), [0, 0, -1, -1, 1, 1], adjacency=path)
        >>> model.forget(nodes=[0]).predict()
        array([0, 0, 1, 1, 1])
        >>> model.receipt_["check"]
        'identical'
        """
        self._check_is_fitted()
        given = {"labels_of": labels_of, "nodes": nodes, "edges": edges}
        chosen = [name for name, value in given.items() if value is not None]
        if len(chosen) != 1:
            raise ValueError(f"forget needs one of labels_of, nodes and edges, but got {' and '.join(chosen) or 'none'}")
        workers = Workers.of(self.n_jobs, self.device)
        data, names, rows = self._data_of(X, adjacency, directed)
        gone = None
        forgotten: Any
        if edges is not None:
            forgotten = _pairs(edges, names, rows)
        else:
            numbers = node_numbers(labels_of if nodes is None else nodes, names, rows)
            forgotten = (numbers, nodes is not None)
            gone = numbers if nodes is not None else None
        changed, receipt = forget(self._model, data, forgotten, flag("verify", verify), workers)
        if gone is not None:
            out = set(gone.tolist())
            rows -= len(out)
            names = None if names is None else [name for k, name in enumerate(names) if k not in out]
        self._change(*changed, names=names, rows=rows, targets=None)
        self.receipt_ = json.loads(receipt)
        return self

    def _change(
        self, model: Any, data: Dataset, changes: dict[str, Any], *, names: Any, rows: int, targets: Any
    ) -> None:
        """Becomes the changed model. What it predicts is computed when it is asked for."""
        self._model, self._data, self._found = model, data, None
        self._training_graph, self._names = None, names
        self._graph_had = (self._graph_had[0], self._graph_had[1], rows)
        self._remember_features(*features_of(model))
        self._remember_nodes(names)
        self._remember_changes(targets)
        self.changes_ = changes

    def _engine(self, targets: Any) -> Any:
        """New targets as the engine reads them, under the names that the model has for them."""
        return targets.engine()

    def _remember_changes(self, targets: Any) -> None:
        """How the predictions of a changed model become what y was."""

    def _data_of(self, X: Any, adjacency: Any, directed: Any, new_features: bool = False) -> Data:
        """What was passed, or the training graph."""
        if X is not None or adjacency is not None:
            checked = self._other_data(X, adjacency, directed, new_features)
            return Data(checked.dataset(Workers.of(self.n_jobs, self.device), keep=True), checked.graph.nodes, checked.rows)
        if self._data is None:
            raise ValueError(
                "the training graph is not part of a model that was not fitted with keep_training=True, nor of a loaded or pickled "
                "one; pass X and adjacency"
            )
        return Data(self._data, self._names, self._graph_had[2] or 0)

    _routed = {**Learner._routed, "partial_fit": ("adjacency", "directed")}

    def set_partial_fit_request(self: Self, *, adjacency: Any = UNCHANGED, directed: Any = UNCHANGED) -> Self:
        """Whether a pipeline passes a graph on to ``partial_fit``."""
        return self._set_request("partial_fit", adjacency=adjacency, directed=directed)


def _check_classes(classes: Any, targets: Any) -> None:
    if classes is None or not isinstance(targets, _inputs.Labels):
        return
    allowed = set(np.asarray(classes).tolist())
    for label in targets.classes.tolist():
        if label not in allowed:
            raise ValueError(f"y has the class {label!r}, which is not among the classes {sorted(allowed)[:8]}")


def _pairs(edges: Any, names: list[Any] | None, rows: int) -> Array:
    """Edges as an array (2, edges) of node numbers."""
    if names is not None:
        place = {name: k for k, name in enumerate(names)}
        strangers = [end for edge in edges for end in edge if end not in place]
        if strangers:
            raise ValueError(f"there is no node {strangers[0]!r} in the graph")
        edges = [[place[source], place[target]] for source, target in edges]
    pairs = np.asarray(edges)
    if pairs.ndim == 2 and pairs.shape[0] != 2 and pairs.shape[1] == 2:
        pairs = pairs.T
    elif not isinstance(edges, np.ndarray) and pairs.shape == (2, 2):
        pairs = pairs.T  # a list of two pairs
    if pairs.ndim != 2 or pairs.shape[0] != 2 or pairs.dtype.kind not in "iu":
        raise ValueError("edges are an array (2, edges) of node numbers, or a list of pairs")
    outside = pairs[(pairs < 0) | (pairs >= rows)]
    if outside.size:
        raise ValueError(f"an edge names node {outside[0]}, but the nodes are 0 to {rows - 1}")
    return np.ascontiguousarray(pairs, dtype=np.int64)

"""Why a score is what it is, and which labels look wrong."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from . import _inputs
from ._changes import Changeable
from ._estimator import warn
from ._explanation import Explanation
from ._gfgcn import audit, explain, influence
from ._learner import node_numbers
from ._results import Results
from ._settings import Workers, flag


class Explainable(Changeable):
    """A learner whose scores are exact sums, and whose training nodes can be predicted by what is learnt without each."""

    def explain(
        self, node: Any, X: Any = None, adjacency: Any = None, *, label: Any = None, directed: bool | None = None
    ) -> Explanation:
        """Why a node got its score: exact sums over channels, features, nodes of the graph and labelled nodes.

        Parameters
        ----------
        node : number, or name in a networkx graph; or a list of them, for what their scores have in common
        X, adjacency, directed
            The graph that the node is in; None for the training graph, which is there with ``keep_training=True``.
        label : optional
            The class or label whose score is explained, or the column of values; the predicted one.

        >>> import numpy as np
        >>> from gfgcn import GradientFreeClassifier
        >>> path = np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
        >>> model = GradientFreeClassifier("sgc", depth=2, keep_training=True)
        >>> why = model.fit(np.eye(6), [0, -1, -1, -1, -1, 1], adjacency=path).explain(1)
        >>> [row["name"] for row in why.labelled]
        [0, 5]
        >>> bool(np.isclose(sum(row["term"] for row in why.features) + why.constant, why.score))
        True
        """
        self._check_is_fitted()
        workers = Workers.of(self.n_jobs, self.device)
        data, names, rows = self._data_of(X, adjacency, directed)
        several = isinstance(node, (list, np.ndarray))
        numbers = node_numbers(node if several else [node], names, rows)
        labels = self._labels()
        if label is not None and label not in labels:
            raise ValueError(f"label is {label!r}, but the model knows {labels[:8]}")
        why = explain(self._model, data, numbers, None if label is None else labels.index(label), workers)
        for note in why["notes"]:
            warn(note, _inputs.GraphWarning)
        known = getattr(self, "feature_names_in_", None)

        def feature(k: int) -> Any:
            return k if known is None else known[k]

        def name(k: int) -> Any:
            return k if names is None else names[k]

        return Explanation(why, node, labels[why["class"]], feature, name, self._labelled_name(names))

    def influence(self, X: Any = None, adjacency: Any = None, *, directed: bool | None = None) -> Results:
        """The labelled nodes with the most influence on what is predicted, the largest first.

        It is the mean size of a node's terms (``explain(...).labelled``) in the scores of the predicted classes, class by class.

        Parameters
        ----------
        X, adjacency, directed
            The graph that is predicted; None for the training graph. The model was fitted with ``keep_training=True``.

        >>> import numpy as np
        >>> from gfgcn import GradientFreeClassifier
        >>> path = np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
        >>> model = GradientFreeClassifier("sgc", depth=2, keep_training=True)
        >>> model = model.fit(np.eye(6), [0, 0, -1, -1, -1, 1], adjacency=path)
        >>> sorted(row["node"] for row in model.influence())
        [0, 1, 5]
        """
        self._check_is_fitted()
        data, names, _ = self._data_of(X, adjacency, directed)
        found = influence(self._model, data, Workers.of(self.n_jobs, self.device))
        if found is None:
            raise ValueError(
                "which labelled nodes a score comes from is known of a model that was fitted with keep_training=True, and of one "
                "that was searched for on the graph it was fitted on"
            )
        name = self._labelled_name(names)
        return Results([{"node": name(node), "influence": size} for node, size in found])

    def _labelled_name(self, given: list[Any] | None) -> Callable[[int], Any]:
        """What the nodes of the training graph are called."""
        names = given if self._names is None else self._names
        return lambda k: k if names is None else names[k]

    def audit(
        self, X: Any, y: Any = None, adjacency: Any = None, *, directed: bool | None = None, validation: Any = None
    ) -> Results:
        """Labels that look wrong, the most surprising first: each training node is predicted by what is learnt without it.

        Parameters are those of ``fit``, which it does not change: rows have the node, what is given and what is expected, the
        probability of what is given, and how surprising it is.

        >>> import numpy as np
        >>> from gfgcn import GradientFreeClassifier
        >>> ring = np.array([range(12), [*range(1, 12), 0]])
        >>> labels = ["a"] * 3 + ["b"] + ["a"] * 2 + ["b"] * 6
        >>> model = GradientFreeClassifier("sgc", depth=2, lam=10.0)
        >>> model.audit(np.eye(12), labels, adjacency=ring)[0]["node"]
        3
        """
        lesson = self._lesson(_inputs.unpack(X, y, adjacency, directed), validation)
        workers, checked = Workers.of(self.n_jobs, self.device), lesson.checked
        how: Any = lesson.plain
        if how is None:
            how = (self.normalization, flag("fit_intercept", getattr(self, "fit_intercept", False)))
        suspects, names = audit(
            checked.dataset(workers), tuple(how), lesson.objective, lesson.train, lesson.validation, workers
        )
        nodes, targets = checked.graph.nodes, checked.targets
        rows = []
        for node, *doubt, probability, surprise in suspects:
            row = {"node": node if nodes is None else nodes[node], **_doubt(doubt, names, targets)}
            if probability is not None:
                row["probability"] = probability
            rows.append({**row, "surprise": surprise})
        return Results(rows)

    def _labels(self) -> list[Any]:
        """What the model's classes, labels or columns are called in Python, in its order."""
        return list(self._model.classes)


def _doubt(doubt: list[Any], names: list[str], targets: Any) -> dict[str, Any]:
    """What is given and what is expected, as y has it."""
    first, second = doubt
    if isinstance(targets, _inputs.Labels):
        label = dict(zip(targets.names, targets.classes))
        return {"given": label[names[first]], "expected": label[names[second]]}
    if isinstance(targets, _inputs.LabelSets):
        return {"label": names[first], "given": bool(second), "expected": not second}
    given, expected = second
    column = {} if len(names) == 1 else {"column": names[first]}
    return {**column, "given": given, "expected": expected}

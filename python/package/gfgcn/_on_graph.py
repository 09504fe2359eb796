"""Cross-validation on a graph: nodes take the place of rows, and labels that are held out are hidden, not cut off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ._estimator import UNCHANGED, Estimator
from ._inputs import mask, sample_weights
from ._types import Array


class OnGraph(Estimator):
    """An estimator whose rows are the nodes of one graph, for scikit-learn's tools that select rows.

    ``cross_val_score``, ``GridSearchCV`` and ``learning_curve`` fit on some rows and predict others. On a graph, nodes that are
    held out still have features and neighbours; only their labels are not to be seen. So the rows are node numbers here,
    the graph stays whole, and the model learns from the labels of the rows that it is given.

    Parameters
    ----------
    model : GradientFreeClassifier or GradientFreeRegressor
        What learns; its parameters are ``model__depth`` and so on.
    X : as in ``model.fit``
        The features of all nodes, or a dataset of ``gfgcn.datasets`` or PyTorch Geometric, which has everything.
    adjacency : as in ``model.fit``
        The graph.
    directed : bool, optional
        Whether edges have a direction.

    Attributes
    ----------
    model_ : the model of the last ``fit``
    classes_ : its classes

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_val_score
    >>> from gfgcn import GradientFreeClassifier, OnGraph, datasets
    >>> cora = datasets.load("cora")
    >>> nodes = np.flatnonzero(cora.train_mask)
    >>> scores = cross_val_score(OnGraph(GradientFreeClassifier(depth=8), cora), nodes, cora.y[nodes], cv=5)
    >>> scores.shape
    (5,)
    """

    def __init__(self, model: Any = None, X: Any = None, adjacency: Any = None, directed: bool | None = None) -> None:
        self.model = model
        self.X = X
        self.adjacency = adjacency
        self.directed = directed

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters and, with ``deep``, those of the model as ``model__NAME``."""
        params = super().get_params(deep)
        if deep and self.model is not None:
            params.update({f"model__{name}": value for name, value in self.model.get_params().items()})
        return params

    def set_params(self, **params: Any) -> OnGraph:
        """Changes parameters, also those of the model."""
        prefix = "model__"
        own = {name: value for name, value in params.items() if not name.startswith(prefix)}
        super().set_params(**own)
        of_model = {name[len(prefix) :]: value for name, value in params.items() if name.startswith(prefix)}
        if of_model:
            self.model.set_params(**of_model)
        return self

    def __sklearn_clone__(self) -> OnGraph:
        # The graph is shared: copying it for every fit would cost more than the fit.
        model = None if self.model is None else type(self.model)(**self.model.get_params())
        return type(self)(model, self.X, self.adjacency, self.directed)

    def __sklearn_tags__(self) -> Any:
        return self._model().__sklearn_tags__()

    @property
    def _estimator_type(self) -> str:
        return str(self._model()._estimator_type)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _model(self) -> Any:
        from ._classifier import GradientFreeClassifier

        return GradientFreeClassifier() if self.model is None else self.model

    def fit(self, nodes: Any, y: Any, sample_weight: Any = None) -> OnGraph:
        """Learns from these nodes, given by number, and what is known of each; of all others nothing is. Weights are those of
        these nodes."""
        numbers, known = _numbers(nodes), np.asarray(y)
        if len(numbers) != len(known):
            raise ValueError(f"there are {len(numbers)} nodes, but y has {len(known)} entries")
        if len(numbers) and numbers.max() >= self._rows():
            raise ValueError(f"there is no node {numbers.max()}; the graph has {self._rows()}")
        # What stands for unknown, in a type that has it.
        unknown: Any = None
        kind: Any = object
        if known.dtype.kind in "iub":
            unknown, kind = -1, np.int64
        elif known.dtype.kind == "f":
            unknown, kind = np.nan, known.dtype
        full = np.full((self._rows(), *known.shape[1:]), unknown, dtype=kind)
        full[numbers] = known
        model = type(self._model())(**self._model().get_params())
        weights = sample_weights(sample_weight, len(numbers))
        if weights is not None:
            of_all = np.zeros(self._rows())
            of_all[numbers] = weights
            weights = of_all
        graph = {"adjacency": self.adjacency, "directed": self.directed}
        self.model_ = model.fit(self.X, full, **graph, sample_weight=weights)
        self._dtype = known.dtype
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_.astype(known.dtype) if known.ndim == 1 else model.classes_
        self.n_features_in_ = 1
        return self

    def _rows(self) -> int:
        for part in (getattr(self.X, "y", None), getattr(self.X, "x", None), self.X, self.adjacency):
            if part is not None and hasattr(part, "shape"):
                return int(part.shape[0])
        return len(self.X)

    def predict(self, nodes: Any) -> Array:
        """What the model says of these nodes."""
        self._check_is_fitted()
        predicted = self.model_.predict()[_numbers(nodes)]
        return np.asarray(predicted.astype(self._dtype) if predicted.ndim == 1 else predicted)

    def predict_proba(self, nodes: Any) -> Array:
        """The probabilities of the classes of these nodes."""
        self._check_is_fitted()
        return np.asarray(self.model_.predict_proba()[_numbers(nodes)])

    def decision_function(self, nodes: Any) -> Array:
        """The scores of these nodes."""
        self._check_is_fitted()
        return np.asarray(self.model_.decision_function()[_numbers(nodes)])

    def score(self, nodes: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy on these nodes, or R² of values, perhaps weighted."""
        predicted, known = self.predict(nodes), np.asarray(y)
        given = sample_weights(sample_weight, len(known))
        weights = np.ones(len(known)) if given is None else given
        if self._estimator_type == "classifier":
            same = predicted == known
            return float(np.average(same if same.ndim == 1 else same.all(axis=1), weights=weights))
        predicted, known = predicted.reshape(len(predicted), -1), known.reshape(len(known), -1)
        spread = weights @ (known - np.average(known, axis=0, weights=weights)) ** 2
        return float(np.mean(1 - weights @ (known - predicted) ** 2 / spread))

    _routed = {"fit": ("sample_weight",), "score": ("sample_weight",)}

    def set_fit_request(self, *, sample_weight: Any = UNCHANGED) -> OnGraph:
        """Whether weights are passed on to ``fit``, with scikit-learn's metadata routing."""
        return self._set_request("fit", sample_weight=sample_weight)

    def set_score_request(self, *, sample_weight: Any = UNCHANGED) -> OnGraph:
        """Whether weights are passed on to ``score``."""
        return self._set_request("score", sample_weight=sample_weight)


class MaskSplit:
    """Splits of nodes by masks, for the ``cv`` of scikit-learn's tools.

    Parameters
    ----------
    train, test : masks (nodes,), or (splits, nodes) for several splits
        Which nodes are learnt from, and which are predicted.

    Examples
    --------
    The public split of Cora, to choose a depth by its validation part:

    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from gfgcn import GradientFreeClassifier, MaskSplit, OnGraph, datasets
    >>> cora = datasets.load("cora")
    >>> search = GridSearchCV(
    ...     OnGraph(GradientFreeClassifier(filter="ssgc"), cora), {"model__depth": [2, 8]},
    ...     cv=MaskSplit(cora.train_mask, cora.val_mask), refit=False,
    ... )
    >>> search.fit(np.arange(2708), cora.y).best_params_
    {'model__depth': 2}
    """

    def __init__(self, train: Any, test: Any) -> None:
        self.train = train
        self.test = test

    def _masks(self) -> list[tuple[Array, Array]]:
        train, test = np.atleast_2d(np.asarray(self.train)), np.atleast_2d(np.asarray(self.test))
        if train.shape != test.shape:
            raise ValueError(f"the masks have the shapes {train.shape} and {test.shape}, which must be the same")
        pairs = [(mask(a, len(a), "training"), mask(b, len(b), "test")) for a, b in zip(train, test)]
        if any((a & b).any() for a, b in pairs):
            raise ValueError("a node is in both masks")
        return pairs

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Places among the nodes ``X`` of those to learn from and of those to predict, split by split."""
        nodes = _numbers(X)
        for train, test in self._masks():
            if len(nodes) and nodes.max() >= len(train):
                raise ValueError(f"there is no node {nodes.max()} in the masks, which are of {len(train)} nodes")
            yield np.flatnonzero(train[nodes]), np.flatnonzero(test[nodes])

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many splits there are."""
        return len(self._masks())


def _numbers(nodes: Any) -> Array:
    """Node numbers, (nodes,) or (nodes, 1)."""
    numbers = np.asarray(nodes)
    if numbers.ndim == 2 and numbers.shape[1] == 1:
        numbers = numbers[:, 0]
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise ValueError(
            f"nodes must be a list of node numbers, but are an array of {numbers.dtype} of shape {numbers.shape}; the features "
            "belong to OnGraph itself"
        )
    if len(numbers) and numbers.min() < 0:
        raise ValueError(f"node {numbers.min()} is negative")
    return numbers

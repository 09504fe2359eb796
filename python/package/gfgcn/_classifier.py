"""The classifier."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _inputs
from ._estimator import UNCHANGED, Estimator, not_fitted_error, warn
from ._gfgcn import Model, fit
from ._settings import design_settings, ridge_settings, threads
from ._types import Array


class GradientFreeClassifier(Estimator):
    """Classifies the nodes of a graph in closed form.

    The features are filtered over the graph, F = p(Â) X with Â the normalised adjacency with self-loops, and kernel
    ridge regression on F is solved exactly. Nothing is random, nothing iterates.

    Parameters
    ----------
    filter : {"ssgc", "sgc", "dgc"}
        The polynomial p: "sgc" is Â^K; "ssgc" the mean of Â, …, Â^K with a share τ of the node's own features;
        "dgc" a diffusion ((1 - T/K) I + T/K Â)^K.
    depth : int, 1 to 10000
        K, how far the filter reaches.
    tau : float, 0 to 1
        τ of "ssgc".
    time : float, positive
        T of "dgc".
    kernel : str
        The similarity of filtered features: "linear", "polynomial", "rbf", "laplacian", "cosine" or "arccosine";
        options follow a colon, as in "rbf:gamma=0.5" or "polynomial:degree=2,coefficient=0".
    lam : "loo", "validation" or float
        λ, the inverse of the ridge penalty: chosen by exact leave-one-out, by the accuracy on validation nodes, or
        given.
    normalization : {"sym", "row"}
        Â = D^-½ (A + I) D^-½ or D^-1 (A + I).
    row_normalize : bool
        Whether each node's features are divided by the sum of their sizes first.
    fit_intercept : bool
        Whether a constant is fitted per class.
    n_jobs : int or None
        Threads; None means all cores. Results do not depend on it.

    Attributes
    ----------
    classes_ : array of the classes that have a training node
    lam_ : float, λ
    loo_score_ : float, share of training nodes whose class is predicted when each is left out (``lam="loo"``)
    coef_ : array (1 or classes, features), of a linear kernel
    intercept_ : array (1 or classes,), of a linear kernel
    n_features_in_, feature_names_in_ : as in scikit-learn
    nodes_ : list of the nodes of a networkx graph, in the order of the predictions

    Examples
    --------
    Six papers that cite in a row; the first and the last have a label, -1 stands for none.

    >>> import numpy as np
    >>> from gfgcn import GradientFreeClassifier
    >>> path = np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
    >>> y = np.array([0, -1, -1, -1, -1, 1])
    >>> model = GradientFreeClassifier().fit(np.eye(6), y, adjacency=path)
    >>> model.predict()
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(
        self,
        filter: str = "ssgc",
        depth: int = 8,
        tau: float = 0.05,
        time: float = 5.27,
        kernel: str = "linear",
        lam: str | float = "loo",
        normalization: str = "sym",
        row_normalize: bool = False,
        fit_intercept: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.filter = filter
        self.depth = depth
        self.tau = tau
        self.time = time
        self.kernel = kernel
        self.lam = lam
        self.normalization = normalization
        self.row_normalize = row_normalize
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: Any = None, adjacency: Any = None, *, validation: Any = None
    ) -> GradientFreeClassifier:
        """Learns from the labelled nodes, and predicts all of them on the way.

        Parameters
        ----------
        X : array or sparse matrix (nodes, features), data frame, or dict from node to features
            Also PyTorch Geometric's ``Data`` (``x``, ``edge_index``, ``edge_weight``, ``y``; not ``edge_attr``) or a dataset
            of ``gfgcn.datasets``, which hold everything; of those only the labels in ``train_mask`` are used. A C-ordered
            float32 array is read where it is: no other thread may write to it while this runs. It cannot be resized
            meanwhile, not even with ``refcheck=False``.
        y : array (nodes,), or dict from node to label
            Classes of any type; -1, NaN and None stand for unlabelled.
        adjacency : sparse matrix, array (nodes, nodes), edge_index (2, edges), (edge_index, weights), networkx graph
            None for no edges: ridge regression on X. Edges have no direction; weights are positive, and of several for
            one edge the largest counts.
        validation : mask or node numbers, optional
            Nodes that choose λ instead of training, with ``lam="validation"``.

        Returns
        -------
        GradientFreeClassifier
            Itself.
        """
        given = _inputs.unpack(X, y, adjacency)
        if given.y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        checked = _inputs.check(given)
        design = design_settings(
            self.filter, self.depth, self.tau, self.time, self.normalization, self.row_normalize
        )
        ridge = ridge_settings(self.kernel, self.lam, self.fit_intercept)
        chooses = self._validation_nodes(given, validation, checked.rows)
        trains = checked.trains()
        if given.train is None:
            trains[chooses] = False
        train = _inputs.training_nodes(trains)
        workers = threads(self.n_jobs)
        data = checked.dataset(workers)
        model, (codes, scores, _) = fit(data, design, ridge, train, chooses, workers)
        self._remember_features(checked.table.columns, checked.table.names)
        names = checked.labels.names
        self.classes_ = checked.labels.classes[[names.index(name) for name in model.classes]]
        self._model = model
        self._training_graph: tuple[Array, Array] | None = (codes, scores)
        self._has_edges = given.adjacency is not None
        self._remember_nodes(checked.graph.nodes)
        return self

    def _validation_nodes(self, given: _inputs.Given, validation: Any, rows: int) -> Array:
        if self.lam != "validation":
            if validation is not None:
                raise ValueError(f'validation nodes choose λ only with lam="validation", but lam is {self.lam!r}')
            return np.empty(0, dtype=np.int64)
        validation = given.validation if validation is None else validation
        if validation is None:
            raise ValueError('lam is "validation", so fit needs the validation nodes; or use lam="loo"')
        return _inputs.part(validation, rows, "validation")

    def _remember_nodes(self, nodes: list[Any] | None) -> None:
        if nodes is not None:
            self.nodes_ = nodes
        elif hasattr(self, "nodes_"):
            del self.nodes_

    def predict(self, X: Any = None, adjacency: Any = None) -> Array:
        """The class of every node: of the training graph, or of another one with the same features.

        >>> import numpy as np
        >>> from gfgcn import GradientFreeClassifier
        >>> model = GradientFreeClassifier().fit(np.eye(2), ["a", "b"])
        >>> model.predict(np.array([[0.1, 0.9], [0.8, 0.2]]))
        array(['b', 'a'], dtype='<U1')
        """
        codes, _, _ = self._predicted(X, adjacency)
        return np.asarray(self.classes_[codes])

    def predict_dict(self, X: Any = None, adjacency: Any = None) -> dict[Any, Any]:
        """The class of every node by the node's name in a networkx graph, or by its number.

        >>> import networkx, numpy as np
        >>> from gfgcn import GradientFreeClassifier
        >>> graph = networkx.Graph([("ann", "bea"), ("bea", "cy"), ("cy", "dan")])
        >>> model = GradientFreeClassifier().fit(np.eye(4), {"ann": 0, "dan": 1}, adjacency=graph)
        >>> {node: int(label) for node, label in model.predict_dict().items()}
        {'ann': 0, 'bea': 0, 'cy': 1, 'dan': 1}
        """
        codes, _, nodes = self._predicted(X, adjacency)
        names = range(len(codes)) if nodes is None else nodes
        return dict(zip(names, self.classes_[codes]))

    def decision_function(self, X: Any = None, adjacency: Any = None) -> Array:
        """The scores: (nodes, classes), of which the largest wins; (nodes,) for two classes, positive for the second, or
        for a single one."""
        _, scores, _ = self._predicted(X, adjacency)
        return scores.flatten() if len(self.classes_) <= 2 else scores.copy()

    def score(self, X: Any = None, y: Any = None, adjacency: Any = None, *, mask: Any = None) -> float:
        """The share of nodes that were predicted right, of those that have a label (and are in the mask).

        ``score(y=labels, mask=test_mask)`` scores the predictions for the training graph.
        """
        given = _inputs.unpack(X, y, adjacency)
        if given.y is None:
            raise ValueError("score needs the true classes: y")
        codes, _, nodes = self._predicted(X, adjacency)
        truth = _inputs.labels(given.y, len(codes), nodes, given.class_names)
        judged = truth.codes >= 0
        if mask is not None:
            judged &= _inputs.mask(mask, len(codes), "scored")
        if not judged.any():
            raise ValueError("there is no labelled node to score")
        position = self._positions(truth)
        return float(np.mean(position[truth.codes[judged]] == codes[judged]))

    def _positions(self, truth: _inputs.Labels) -> Array:
        """Where the classes of some labels are in ``classes_``, by themselves or else by their names in the model file;
        -1 for those that are not."""
        for theirs, ours in [(truth.classes.tolist(), self.classes_.tolist()), (truth.names, self._model.classes)]:
            place = {name: k for k, name in enumerate(ours)}
            positions = np.array([place.get(name, -1) for name in theirs])
            if (positions >= 0).any():
                return positions
        raise ValueError(f"y has the classes {truth.names[:5]}, none of which the model has: {self._model.classes[:5]}")

    def _predicted(self, X: Any, adjacency: Any) -> tuple[Array, Array, list[Any] | None]:
        """Positions in ``classes_``, scores, and what the nodes are called."""
        self._check_is_fitted()
        if X is None and adjacency is None:
            if self._training_graph is None:
                raise not_fitted_error()(
                    "the training graph is not part of a model file; pass X and adjacency to predict"
                )
            return (*self._training_graph, getattr(self, "nodes_", None))
        if X is None:
            raise ValueError("a graph was passed without the features of its nodes: X")
        given = _inputs.unpack(X, None, adjacency).without_labels()
        if given.adjacency is None and self._has_edges:
            warn(
                "the model was fitted on a graph, but no adjacency was passed now: nodes are taken for unconnected",
                _inputs.GraphWarning,
            )
        checked = _inputs.check(given)
        self._check_features(checked.table.columns, checked.table.names)
        workers = threads(self.n_jobs)
        codes, scores, _ = self._model.predict(checked.dataset(workers), workers)
        return codes, scores, checked.graph.nodes

    @property
    def lam_(self) -> float:
        """λ as it was given or chosen."""
        self._check_is_fitted()
        return self._model.lam

    @property
    def loo_score_(self) -> float:
        """The share of training nodes whose class is predicted when each is left out."""
        self._check_is_fitted()
        accuracy = self._model.selection_accuracy
        if accuracy is None or self._model.params()["lam"] != "loo":
            raise AttributeError('loo_score_ is known after a fit with lam="loo"')
        return accuracy

    @property
    def coef_(self) -> Array:
        """W of scores = F Wᵀ + b."""
        return self._weights()[0].T

    @property
    def intercept_(self) -> Array:
        """b of scores = F Wᵀ + b."""
        return self._weights()[1]

    def _weights(self) -> tuple[Array, Array]:
        self._check_is_fitted()
        weights = self._model.weights()
        if weights is None:
            raise AttributeError(f"only a linear kernel has coefficients; this one is {self._model.params()['kernel']}")
        return weights

    def save(self, path: str | os.PathLike[str], overwrite: bool = True) -> None:
        """Writes the model to a file that ``load`` and the command line ``gfgcn predict`` read.

        Holds what is needed to predict, not the training graph.
        """
        self._check_is_fitted()
        self._model.save(path, overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GradientFreeClassifier:
        """Reads a model, also one of the command line's.

        Classes are what the file calls them: integers if all names are whole numbers in increasing order, text otherwise.
        ``n_jobs``, and ``tau`` or ``time`` of a filter that has none, are the defaults. A model with several filters side
        by side is refused: no parameters here say what it is.
        """
        model = Model.load(path)
        loaded = cls(**model.params())
        loaded._remember_features(model.features, model.feature_names)
        loaded.classes_ = _classes(model.classes)
        loaded._model, loaded._training_graph, loaded._has_edges = model, None, False
        return loaded

    _routed = {
        "fit": ("adjacency", "validation"),
        "predict": ("adjacency",),
        "decision_function": ("adjacency",),
        "score": ("adjacency", "mask"),
    }

    def set_fit_request(self, *, adjacency: Any = UNCHANGED, validation: Any = UNCHANGED) -> GradientFreeClassifier:
        """Whether a pipeline passes a graph on to ``fit``, with scikit-learn's metadata routing."""
        return self._set_request("fit", adjacency=adjacency, validation=validation)

    def set_predict_request(self, *, adjacency: Any = UNCHANGED) -> GradientFreeClassifier:
        """Whether a pipeline passes a graph on to ``predict``."""
        return self._set_request("predict", adjacency=adjacency)

    def set_decision_function_request(self, *, adjacency: Any = UNCHANGED) -> GradientFreeClassifier:
        """Whether a pipeline passes a graph on to ``decision_function``."""
        return self._set_request("decision_function", adjacency=adjacency)

    def set_score_request(self, *, adjacency: Any = UNCHANGED, mask: Any = UNCHANGED) -> GradientFreeClassifier:
        """Whether a pipeline passes a graph and a mask on to ``score``."""
        return self._set_request("score", adjacency=adjacency, mask=mask)

    _estimator_type = "classifier"  # for scikit-learn before 1.6

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(sparse=True),
        )


def _classes(names: list[str]) -> Array:
    try:
        numbers = np.array([int(name) for name in names], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array(names)
    as_written = [str(number) for number in numbers] == names
    return numbers if as_written and np.all(np.diff(numbers) > 0) else np.array(names)

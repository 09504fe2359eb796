"""The classifier."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _inputs
from ._estimator import UNCHANGED
from ._explaining import Explainable
from ._gfgcn import Model, smoothed_sets
from ._settings import Workers, number
from ._types import Array


class GradientFreeClassifier(Explainable):
    """Classifies the nodes of a graph in closed form.

    Without parameters it searches, as the command line's ``gfgcn fit`` does: what could say something about the nodes
    (their own features, their neighbours', who is linked to whom, directions, relations, degrees) is solved in closed form,
    each with its own λ by exact leave-one-out, and added up by how well it predicts nodes it has not seen. The paper's
    default stays unless that is better beyond chance.

    With any of ``filter``, ``depth``, ``tau``, ``time``, ``kernel``, ``lam`` and ``row_normalize`` it is one model: the features
    are filtered over the graph, F = p(Â) X with Â the normalised adjacency with self-loops, and kernel ridge
    regression on F is solved exactly. Nothing is random, nothing iterates.

    Parameters
    ----------
    filter : {"ssgc", "sgc", "dgc"}, optional
        The polynomial p: "sgc" is Â^K; "ssgc" (default) the mean of Â, …, Â^K with a share τ of the node's own features;
        "dgc" a diffusion ((1 - T/K) I + T/K Â)^K.
    depth : int, 1 to 10000, optional
        K, how far the filter reaches; 8.
    tau : float, 0 to 1, optional
        τ of "ssgc"; 0.05.
    time : float, positive, optional
        T of "dgc"; 5.27.
    kernel : str, optional
        The similarity of filtered features: "linear" (default), "polynomial", "rbf", "laplacian", "cosine" or "arccosine";
        options follow a colon, as in "rbf:gamma=0.5" or "polynomial:degree=2,coefficient=0".
    lam : "loo", "validation" or float, optional
        λ, the inverse of the ridge penalty: chosen by exact leave-one-out (default), by the metric on validation nodes, or
        given.
    normalization : {"sym", "row"}
        Â = D^-½ (A + I) D^-½ or D^-1 (A + I).
    row_normalize : bool, optional
        Whether each node's features are divided by the sum of their sizes first; no.
    fit_intercept : bool
        Whether a constant is fitted per class.
    n_jobs : int or None
        Threads; None means all cores. Results do not depend on it.
    design : "auto" or str
        "auto" searches unless a parameter above says what the model is. Otherwise what is computed from graph and features,
        as reports write it: "0.5*ssgc:depth=8 + identity/unit".
    class_weight : None, "balanced" or dict
        How much the squared errors of the classes count: alike, so that all classes count alike together, or by class.
    scoring : str, optional
        The metric by which everything is chosen, by scikit-learn's name or the command line's: "accuracy" (default),
        "balanced_accuracy", "f1_macro", "roc_auc", "average_precision"; of label sets "f1_micro" (default), "f1_macro",
        "roc_auc", "average_precision".
    keep_training : bool
        Whether what ``partial_fit`` and ``forget`` need is kept: the labels and the filtered features of all nodes, which a file of
        the model then holds, too; and the training graph, until it is pickled. Such a model is computed on the processor.
    device : str, optional
        Where to compute: "auto" (a GPU where one is there and pays, or where X is on it already), "cpu", "cuda" or "cuda:N";
        None for what the variable GFGCN_DEVICE says, or "auto". ``gfgcn.devices()`` lists what there is.

    Attributes
    ----------
    classes_ : array of the classes that have a training node; of label sets, the labels by column
    loo_score_ : float, the metric on training nodes, each predicted by what is learnt without it
    shares_ : dict, how much each part has to do with the predictions (after a search)
    stacked_ : bool, whether several models are added up (after a search)
    expected_score_ : float, the metric to expect on other nodes (after a search)
    board_ : Results, everything that was tried (after a search)
    lam_ : float, λ, of one model
    coef_ : array (1 or classes, features), of one model with a linear kernel
    intercept_ : array (1 or classes,), of one model with a linear kernel
    n_features_in_, feature_names_in_ : as in scikit-learn
    nodes_ : list of the nodes of a networkx graph, in the order of the predictions
    changes_ : dict, what the last ``partial_fit`` or ``forget`` changed
    receipt_ : dict, what the last ``forget`` removed, and how it was checked

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
        filter: str | None = None,
        depth: int | None = None,
        tau: float | None = None,
        time: float | None = None,
        kernel: str | None = None,
        lam: str | float | None = None,
        normalization: str = "sym",
        row_normalize: bool | None = None,
        fit_intercept: bool = False,
        n_jobs: int | None = None,
        *,
        design: str = "auto",
        class_weight: str | dict[Any, float] | None = None,
        scoring: str | None = None,
        keep_training: bool = False,
        device: str | None = None,
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
        self.design = design
        self.class_weight = class_weight
        self.scoring = scoring
        self.keep_training = keep_training
        self.device = device

    def fit(
        self,
        X: Any,
        y: Any = None,
        adjacency: Any = None,
        *,
        sample_weight: Any = None,
        directed: bool | None = None,
        validation: Any = None,
    ) -> GradientFreeClassifier:
        """Learns from the labelled nodes, and predicts all of them on the way.

        Parameters
        ----------
        X : array or sparse matrix (nodes, features), data frame, or dict from node to features
            None where nodes have no features. Also PyTorch Geometric's ``Data`` (``x``, ``edge_index``, ``edge_weight``, ``y``;
            not ``edge_attr``), its ``HeteroData`` with nodes of one type, or a dataset of ``gfgcn.datasets``, which hold
            everything; of those only the labels in ``train_mask`` are used. A C-ordered float32 array is read where it is: no
            other thread may write to it while this runs. It cannot be resized meanwhile, not even with ``refcheck=False``.
            An array of PyTorch's or CuPy's that is on a GPU is used there, unless ``device`` says otherwise.
        y : array (nodes,), or dict from node to label
            Classes of any type; -1, NaN and None stand for unlabelled. Or a matrix (nodes, labels) of 0 and 1, for any
            number of labels per node; rows of -1 or NaN stand for unlabelled.
        adjacency : sparse matrix, array (nodes, nodes), edge_index (2, edges), (edge_index, weights), networkx graph
            None for no edges: ridge regression on X. Weights are positive, and of several for one edge the largest counts.
            A dict from name to graph has edges of several kinds. A ``Graph`` is checked already, which saves time where it is used often.
        sample_weight : array (nodes,), number, or dict from node to weight, optional
            How much the squared errors of the training nodes count, beside ``class_weight``: w in
            min Σ w ‖y − f‖² + ‖W‖² / λ. A node of weight 0 is not learnt from; weights of nodes without a label say nothing. Leave-one-out
            stays exact, and counts every node that is learnt from once.
        directed : bool, optional
            Whether edges have a direction, from row to column. By default only those of a networkx ``DiGraph`` do.
        validation : mask or node numbers, optional
            Nodes that choose λ instead of training, with ``lam="validation"``.

        Returns
        -------
        GradientFreeClassifier
            Itself.
        """
        self._learn(_inputs.unpack(X, y, adjacency, directed), validation, sample_weight)
        return self

    def _remember_targets(self, targets: _inputs.Targets) -> None:
        names = targets.names
        if isinstance(targets, _inputs.Labels):
            self._class_of: dict[str, Any] = dict(zip(names, targets.classes))
        places = [names.index(name) for name in self._model.classes]
        if isinstance(targets, _inputs.LabelSets):
            self.classes_: Array = targets.classes
            self._sets: tuple[list[int], Any] | None = (places, targets.dtype)
            self._label_names: list[str] = names
        elif isinstance(targets, _inputs.Labels):
            self.classes_, self._sets = targets.classes[places], None

    def _labels(self) -> list[Any]:
        if self._sets is not None:
            return [self.classes_[place] for place in self._sets[0]]
        return list(self.classes_)

    def _engine(self, targets: Any) -> Any:
        if isinstance(targets, _inputs.LabelSets):
            if targets.named:
                return targets.engine()
            if self._sets is not None and len(targets.names) != len(self.classes_):
                raise ValueError(
                    f"y has {len(targets.names)} columns without names, but the model knows {len(self.classes_)} labels; pass a "
                    "data frame whose columns name the labels"
                )
            return targets.matrix, self._label_names if self._sets is not None else targets.names
        known = {label: name for name, label in self._class_of.items()}
        names = [known.get(label, name) for label, name in zip(targets.classes, targets.names)]
        self._class_of.update(zip(names, targets.classes))
        return targets.codes, names

    def _remember_changes(self, targets: Any) -> None:
        names = self._model.classes
        if self._sets is not None:
            if targets is not None and targets.named:
                pairs = zip(targets.classes, targets.names)
                new = [(label, name) for label, name in pairs if name not in self._label_names]
                self._label_names = [*self._label_names, *(name for _, name in new)]
                if new:
                    self.classes_ = np.asarray([*self.classes_, *(label for label, _ in new)])
            self._sets = ([self._label_names.index(name) for name in names], self._sets[1])
            return
        self.classes_ = np.asarray([self._class_of[name] for name in names])

    def _class_weights(self, targets: _inputs.Targets) -> Any:
        return _inputs.class_weights(self.class_weight, targets)

    def predict(
        self, X: Any = None, adjacency: Any = None, *, directed: bool | None = None, nodes: Any = None
    ) -> Array:
        """The class of every node, or a matrix of 0 and 1 for label sets: of the training graph, or of another one with the
        same features.

        What was learnt from who is linked to whom says nothing about other nodes; such a model refuses them. ``nodes`` (numbers,
        names in a networkx graph, or a mask) asks for some nodes only, in that order, which costs what is around them and not
        the whole graph.

        >>> import numpy as np
        >>> from gfgcn import GradientFreeClassifier
        >>> model = GradientFreeClassifier().fit(np.eye(2), ["a", "b"])
        >>> model.predict(np.array([[0.1, 0.9], [0.8, 0.2]]))
        array(['b', 'a'], dtype='<U1')
        """
        return self._decoded(self._predicted(X, adjacency, directed, nodes).decoded)

    def _decoded(self, decoded: Array) -> Array:
        if self._sets is None:
            return np.asarray(self.classes_[decoded])
        places, dtype = self._sets
        return self._by_label(decoded.astype(dtype), places)

    def _by_label(self, columns: Array, places: list[int]) -> Array:
        """The model's labels among all; nodes are not predicted to have those that no training node has."""
        matrix = np.zeros((len(columns), len(self.classes_)), dtype=columns.dtype)
        matrix[:, places] = columns
        return matrix

    def predict_dict(self, X: Any = None, adjacency: Any = None, *, directed: bool | None = None) -> dict[Any, Any]:
        """The class of every node, or its row of 0 and 1, by the node's name in a networkx graph, or by its number.

        >>> import networkx, numpy as np
        >>> from gfgcn import GradientFreeClassifier
        >>> graph = networkx.Graph([("ann", "bea"), ("bea", "cy"), ("cy", "dan")])
        >>> model = GradientFreeClassifier().fit(np.eye(4), {"ann": 0, "dan": 1}, adjacency=graph)
        >>> {node: int(label) for node, label in model.predict_dict().items()}
        {'ann': 0, 'bea': 0, 'cy': 1, 'dan': 1}
        """
        predicted = self._predicted(X, adjacency, directed)
        labels = self._decoded(predicted.decoded)
        names = range(len(labels)) if predicted.nodes is None else predicted.nodes
        return dict(zip(names, labels))

    def decision_function(self, X: Any = None, adjacency: Any = None, *, directed: bool | None = None) -> Array:
        """The scores: (nodes, classes), of which the largest wins; (nodes,) for two classes, positive for the second, or
        for a single one. Of label sets (nodes, labels): those above a threshold that suits left-out nodes are predicted."""
        scores = self._predicted(X, adjacency, directed).scores
        if self._sets is not None:
            return self._by_label(scores, self._sets[0])
        return scores.flatten() if len(self.classes_) <= 2 else scores.copy()

    def predict_proba(self, X: Any = None, adjacency: Any = None, *, directed: bool | None = None) -> Array:
        """The probabilities of the classes, (nodes, classes), which add up to 1; of label sets the probability of each label,
        (nodes, labels).

        They come from the left-out scores of the training nodes, each predicted by what was learnt without it: no node is
        held out to calibrate them. Labelled nodes must be labelled at random for them to hold on others.

        >>> import numpy as np
        >>> from gfgcn import GradientFreeClassifier
        >>> path = np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]])
        >>> model = GradientFreeClassifier().fit(np.eye(6), [0, 0, -1, -1, 1, 1], adjacency=path)
        >>> model.predict_proba().shape
        (6, 2)
        """
        scores = self._predicted(X, adjacency, directed).scores
        return self._by_class(self._model.probabilities(scores))

    def _by_class(self, columns: Array) -> Array:
        return columns if self._sets is None else self._by_label(columns, self._sets[0])

    def predict_set(
        self,
        X: Any = None,
        adjacency: Any = None,
        *,
        coverage: float = 0.9,
        smooth: float = 0.0,
        directed: bool | None = None,
    ) -> Array:
        """Which classes are plausible, a mask (nodes, classes): those that fit a node no worse than the training nodes' own
        classes fit them when they are left out, but for the worst ones.

        The share of nodes whose class is in its set is the coverage, if labelled nodes were labelled at random and no
        single one decides much: measured on many graphs, not guaranteed. The predicted class is always in the set. Of label
        sets, the coverage is the share of labels that are inside.

        With ``smooth``, from 0 to 1, that share of a node's probabilities is the mean of its neighbours', and training nodes are
        left out of their neighbours' as well: smaller sets where neighbours are alike. For classes, on the graph of ``fit``, with
        ``keep_training=True`` and a model that is described by parameters.

        >>> import numpy as np
        >>> from gfgcn import datasets, GradientFreeClassifier
        >>> model = GradientFreeClassifier(depth=8).fit(datasets.load("cora"))
        >>> sets = model.predict_set(coverage=0.9)
        >>> sets.shape, bool((sets.sum(axis=1) >= 1).all())
        ((2708, 7), True)
        """
        coverage, smooth = number("coverage", coverage), number("smooth", smooth)
        if smooth == 0.0:
            scores = self._predicted(X, adjacency, directed).scores
            return self._by_class(self._model.sets(scores, coverage))
        self._check_is_fitted()
        workers = Workers.of(self.n_jobs, self.device)
        data = self._data_of(X, adjacency, directed).dataset
        return self._by_class(smoothed_sets(self._model, data, coverage, smooth, workers))

    def score(
        self,
        X: Any = None,
        y: Any = None,
        adjacency: Any = None,
        *,
        directed: bool | None = None,
        mask: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """The share of nodes that were predicted right, of those that have a label (and are in the mask); of label sets the
        F1 of all pairs of node and label together (micro-F1).

        ``score(y=labels, mask=test_mask)`` scores the predictions for the training graph. Of nodes with a ``sample_weight`` it
        is the share of the weights.
        """
        given = _inputs.unpack(X, y, adjacency)
        if given.y is None:
            raise ValueError("score needs the true classes: y")
        decoded, _, nodes = self._predicted(X, adjacency, directed)
        truth = _inputs.targets(given, "classes", len(decoded), nodes)
        judged = truth.known
        if mask is not None:
            judged = judged & _inputs.mask(mask, len(decoded), "scored")
        weights = _inputs.sample_weights(sample_weight, len(decoded), nodes)
        weights = np.ones(len(decoded)) if weights is None else weights
        if not (weights[judged] > 0).any():
            raise ValueError("there is no labelled node to score")
        if isinstance(truth, _inputs.LabelSets) != (self._sets is not None):
            kinds = "sets of labels", "classes"
            raise ValueError("y has {}, but the model predicts {}".format(*(kinds if self._sets is None else kinds[::-1])))
        if isinstance(truth, _inputs.LabelSets):
            return _micro_f1(truth, self._decoded(decoded), judged, weights[judged])
        assert isinstance(truth, _inputs.Labels)
        position = self._positions(truth)
        return float(np.average(position[truth.codes[judged]] == decoded[judged], weights=weights[judged]))

    def _positions(self, truth: _inputs.Labels) -> Array:
        """Where the classes of some labels are in ``classes_``, by themselves or else by their names in the model file;
        -1 for those that are not."""
        for theirs, ours in [(truth.classes.tolist(), self.classes_.tolist()), (truth.names, self._model.classes)]:
            place = {name: k for k, name in enumerate(ours)}
            positions = np.array([place.get(name, -1) for name in theirs])
            if (positions >= 0).any():
                return positions
        raise ValueError(f"y has the classes {truth.names[:5]}, none of which the model has: {self._model.classes[:5]}")

    @property
    def coef_(self) -> Array:
        """W of scores = F Wᵀ + b."""
        return self._weights()[0].T

    @property
    def intercept_(self) -> Array:
        """b of scores = F Wᵀ + b."""
        return self._weights()[1]

    def _name(self, model: Model) -> None:
        self.classes_ = _classes(model.classes)
        self._class_of = dict(zip(model.classes, self.classes_))
        sets = model.kind == "sets"
        self._sets = (list(range(len(model.classes))), np.dtype(np.int64)) if sets else None
        self._label_names = list(model.classes)
        if isinstance(self.class_weight, list):
            by_name = dict(zip(model.classes, self.classes_.tolist()))
            self.class_weight = {by_name.get(name, name): weight for name, weight in self.class_weight}

    _routed = {
        **Explainable._routed,
        "decision_function": ("adjacency", "directed"),
        "predict_proba": ("adjacency", "directed"),
    }

    def set_predict_proba_request(
        self, *, adjacency: Any = UNCHANGED, directed: Any = UNCHANGED
    ) -> GradientFreeClassifier:
        """Whether a pipeline passes a graph on to ``predict_proba``."""
        return self._set_request("predict_proba", adjacency=adjacency, directed=directed)

    def set_decision_function_request(
        self, *, adjacency: Any = UNCHANGED, directed: Any = UNCHANGED
    ) -> GradientFreeClassifier:
        """Whether a pipeline passes a graph on to ``decision_function``."""
        return self._set_request("decision_function", adjacency=adjacency, directed=directed)

    _estimator_type = "classifier"  # for scikit-learn before 1.6

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(multi_label=True),
            input_tags=InputTags(sparse=True),
        )


def _micro_f1(truth: _inputs.LabelSets, predicted: Array, judged: Array, weights: Array) -> float:
    """F1 of the pairs of node and label; 0 where there are none and none are predicted."""
    if truth.matrix.shape != predicted.shape:
        raise ValueError(f"y has {truth.matrix.shape[1]} labels, but the model predicts {predicted.shape[1]}")
    there, said = truth.matrix[judged] == 1, predicted[judged] == 1
    pairs = float(weights @ (there.sum(axis=1) + said.sum(axis=1)))
    return 2 * float(weights @ (there & said).sum(axis=1)) / pairs if pairs else 0.0


def _classes(names: list[str]) -> Array:
    try:
        numbers = np.array([int(name) for name in names], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array(names)
    as_written = [str(number) for number in numbers] == names
    return numbers if as_written and np.all(np.diff(numbers) > 0) else np.array(names)

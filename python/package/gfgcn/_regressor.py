"""The regressor."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _inputs
from ._explaining import Explainable
from ._gfgcn import Model
from ._settings import number
from ._types import Array


class GradientFreeRegressor(Explainable):
    """Predicts numbers of the nodes of a graph in closed form.

    As :class:`GradientFreeClassifier`: without parameters it searches, with any of them it is one model. Constants are always
    fitted: to be drawn towards zero means nothing for a measured value.

    Parameters
    ----------
    filter, depth, tau, time, kernel, lam, normalization, row_normalize, n_jobs, design
        As of :class:`GradientFreeClassifier`.
    scoring : str, optional
        The metric by which everything is chosen: "r2" (default) or "neg_mean_absolute_error".
    keep_training, device
        As of :class:`GradientFreeClassifier`.

    Attributes
    ----------
    loo_score_, shares_, stacked_, expected_score_, board_, lam_, n_features_in_, feature_names_in_, nodes_
        As of :class:`GradientFreeClassifier`.
    coef_ : array (features,) or (columns of y, features), of one model with a linear kernel
    intercept_ : float or array (columns of y,), of one model with a linear kernel

    Examples
    --------
    The height of places along a road, two of them measured.

    >>> import numpy as np
    >>> from gfgcn import GradientFreeRegressor
    >>> road = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])
    >>> height = np.array([100.0, np.nan, np.nan, np.nan, 200.0])
    >>> model = GradientFreeRegressor("sgc", depth=4).fit(np.eye(5), height, adjacency=road)
    >>> bool(np.all(np.diff(model.predict()) > 0))
    True
    """

    _kind = "values"

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
        n_jobs: int | None = None,
        *,
        design: str = "auto",
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
        self.n_jobs = n_jobs
        self.design = design
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
    ) -> GradientFreeRegressor:
        """Learns from the nodes whose values are known, and predicts all of them on the way.

        Parameters
        ----------
        X, adjacency, sample_weight, directed, validation
            As of :meth:`GradientFreeClassifier.fit`.
        y : array (nodes,) or (nodes, columns), or dict from node to value
            NaN and None stand for unknown; of several columns all are known or none is.

        Returns
        -------
        GradientFreeRegressor
            Itself.
        """
        self._learn(_inputs.unpack(X, y, adjacency, directed), validation, sample_weight)
        return self

    def _remember_targets(self, targets: _inputs.Targets) -> None:
        self._flat = isinstance(targets, _inputs.Values) and targets.flat

    def predict(
        self, X: Any = None, adjacency: Any = None, *, directed: bool | None = None, nodes: Any = None
    ) -> Array:
        """The values of every node, as y had them: of the training graph, or of another one with the same features.

        ``nodes`` asks for some nodes only, as of :meth:`GradientFreeClassifier.predict`.
        """
        return self._shaped(self._predicted(X, adjacency, directed, nodes).scores)

    def _shaped(self, values: Array) -> Array:
        return values.flatten() if self._flat else values.copy()

    def predict_dict(self, X: Any = None, adjacency: Any = None, *, directed: bool | None = None) -> dict[Any, Any]:
        """The values of every node by the node's name in a networkx graph, or by its number."""
        predicted = self._predicted(X, adjacency, directed)
        names = range(len(predicted.scores)) if predicted.nodes is None else predicted.nodes
        return dict(zip(names, self._shaped(predicted.scores)))

    def predict_interval(
        self, X: Any = None, adjacency: Any = None, *, coverage: float = 0.9, directed: bool | None = None
    ) -> Array:
        """From where to where the values plausibly are, (nodes, 2), or (nodes, columns, 2) if y had several columns.

        As wide as the errors of left-out training nodes, but for the largest ones. The share of nodes whose value is inside is
        the coverage, if the known ones were picked at random and no single one decides much: measured, not guaranteed.
        """
        values = self._predicted(X, adjacency, directed).scores
        ends = np.stack(self._model.intervals(values, number("coverage", coverage)), axis=-1)
        return ends[:, 0] if self._flat else ends

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
        """R² on the nodes whose values are known (and are in the mask), the mean over the columns of y.

        ``score(y=values, mask=test_mask)`` scores the predictions for the training graph.
        """
        given = _inputs.unpack(X, y, adjacency)
        if given.y is None:
            raise ValueError("score needs the true values: y")
        predicted = self._predicted(X, adjacency, directed)
        rows = len(predicted.scores)
        truth = _inputs.targets(given, "values", rows, predicted.nodes)
        assert isinstance(truth, _inputs.Values)
        if truth.matrix.shape != predicted.scores.shape:
            raise ValueError(
                f"y has {truth.matrix.shape[1]} columns, but the model predicts {predicted.scores.shape[1]}"
            )
        judged = truth.known if mask is None else truth.known & _inputs.mask(mask, rows, "scored")
        given_weights = _inputs.sample_weights(sample_weight, rows, predicted.nodes)
        weights = np.ones(rows) if given_weights is None else given_weights
        judged = judged & (weights > 0)
        if judged.sum() < 2:
            raise ValueError("R² needs two nodes whose values are known")
        y_true, y_pred, weights = truth.matrix[judged], predicted.scores[judged], weights[judged]
        errors = weights @ (y_true - y_pred) ** 2
        spread = weights @ (y_true - np.average(y_true, axis=0, weights=weights)) ** 2
        # As scikit-learn: a column that does not vary is predicted either exactly or not at all.
        constant = np.where(errors == 0, 1.0, 0.0)
        return float(np.mean(np.where(spread > 0, 1 - errors / np.where(spread > 0, spread, 1), constant)))

    @property
    def coef_(self) -> Array:
        """W of values = F Wᵀ + b."""
        weights = self._weights()[0].T
        return weights[0] if self._flat else weights

    @property
    def intercept_(self) -> Any:
        """b of values = F Wᵀ + b."""
        constants = self._weights()[1]
        return float(constants[0]) if self._flat else constants

    def _name(self, model: Model) -> None:
        self._flat = len(model.classes) == 1

    _estimator_type = "regressor"  # for scikit-learn before 1.6

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type="regressor",
            target_tags=TargetTags(required=True, multi_output=True),
            regressor_tags=RegressorTags(),
            input_tags=InputTags(sparse=True),
        )

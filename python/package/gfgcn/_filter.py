"""The filter by itself, as a transformer."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _inputs
from ._estimator import Estimator, threads
from ._gfgcn import Dataset
from ._gfgcn import filter as apply
from ._settings import filter_settings, model_settings
from ._types import Array


class GraphFilter(Estimator):
    """Filters features over a graph: F = p(Â) X, for use before any other estimator.

    Parameters
    ----------
    filter, depth, tau, time, normalization, row_normalize, n_jobs
        As of :class:`GradientFreeClassifier`.
    adjacency : graph, optional
        The graph that ``transform`` filters over if it is given none. In a pipeline this is where it belongs: every
        call then has to have one row per node of it.

    Examples
    --------
    >>> import numpy as np
    >>> from gfgcn import GraphFilter
    >>> edge = np.array([[0], [1]])
    >>> GraphFilter("sgc", depth=1, adjacency=edge).fit_transform(np.eye(2)).round(3)
    array([[0.5, 0.5],
           [0.5, 0.5]], dtype=float32)
    """

    def __init__(
        self,
        filter: str = "ssgc",
        depth: int = 8,
        tau: float = 0.05,
        time: float = 5.27,
        normalization: str = "sym",
        row_normalize: bool = False,
        adjacency: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.filter = filter
        self.depth = depth
        self.tau = tau
        self.time = time
        self.normalization = normalization
        self.row_normalize = row_normalize
        self.adjacency = adjacency
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, adjacency: Any = None) -> GraphFilter:
        """Checks the data and remembers the number of features and the graph; there is nothing to learn."""
        self._data(X, adjacency)
        return self

    def transform(self, X: Any, adjacency: Any = None) -> Array:
        """F, an array of float32 (nodes, features)."""
        self._check_is_fitted()
        return self._apply(self._data(X, adjacency, fitted=True))

    def fit_transform(self, X: Any, y: Any = None, adjacency: Any = None) -> Array:
        """``fit`` and ``transform`` in one."""
        return self._apply(self._data(X, adjacency))

    def _data(self, X: Any, adjacency: Any, fitted: bool = False) -> Dataset:
        """What is filtered; by a fit the features and the graph are remembered, after it they are compared."""
        given = _inputs.unpack(X, None, adjacency)
        standing = self._graph if fitted else self.adjacency
        wanted = standing if given.adjacency is None else given.adjacency
        graph = _inputs.edges(wanted, _inputs.rows(given.X))
        table = _inputs.features(given.X, graph.nodes)
        if fitted:
            self._check_features(table.columns, table.names)
        data = _inputs.dataset(table, graph, _inputs.labels(None, table.rows), threads(self.n_jobs))
        if not fitted:
            self._remember_features(table.columns, table.names)
            self._graph: Any = wanted
        return data

    def _apply(self, data: Dataset) -> Array:
        polynomial = filter_settings(self.filter, self.depth, self.tau, self.time)
        settings = model_settings(normalization=self.normalization, row_normalize=self.row_normalize)
        return apply(data, polynomial, settings, threads(self.n_jobs))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the features, which filtering does not change."""
        self._check_is_fitted()
        names = getattr(self, "feature_names_in_", None)
        if input_features is not None:
            if names is not None and list(input_features) != list(names):
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(input_features) != self.n_features_in_:
                raise ValueError(
                    f"input_features should have length equal to number of features ({self.n_features_in_}), "
                    f"got {len(input_features)}"
                )
            return np.asarray(input_features, dtype=object)
        if names is not None:
            return np.asarray(names)
        return np.asarray([f"x{k}" for k in range(self.n_features_in_)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type="transformer",
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            input_tags=InputTags(sparse=True),
        )

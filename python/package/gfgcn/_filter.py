"""The filter by itself, as a transformer."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from . import _inputs
from ._estimator import UNCHANGED, Estimator
from ._gfgcn import Dataset, check
from ._gfgcn import filter as apply
from ._inputs.arrays import OnGpu, array
from ._inputs.tables import Features
from ._settings import Workers, design_settings
from ._types import Array


class _Data(NamedTuple):
    """Checked features, and the engine's dataset of them."""

    table: Features
    dataset: Dataset


class GraphFilter(Estimator):
    """Filters features over a graph: F = p(Â) X, for use before any other estimator.

    Parameters
    ----------
    filter, depth, tau, time, normalization, row_normalize, n_jobs, device
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
        device: str | None = None,
    ) -> None:
        self.filter = filter
        self.depth = depth
        self.tau = tau
        self.time = time
        self.normalization = normalization
        self.row_normalize = row_normalize
        self.adjacency = adjacency
        self.n_jobs = n_jobs
        self.device = device

    def fit(self, X: Any, y: Any = None, adjacency: Any = None) -> GraphFilter:
        """Checks data and parameters, and remembers the number of features and the graph; there is nothing to learn."""
        check(self._design())
        self._remember(self._data(X, adjacency, self.adjacency), adjacency)
        return self

    def transform(self, X: Any, adjacency: Any = None) -> Any:
        """F: (nodes, features), an array of float32 unless ``set_output`` says otherwise.

        Where X is an array of PyTorch's or CuPy's on a GPU, F is one, too, on the same GPU; unless ``device`` is "cpu".
        """
        self._check_is_fitted()
        standing = self.adjacency if self._graph is None else self._graph
        given = self._data(X, adjacency, standing)
        self._check_features(given.table.columns, given.table.names)
        return self._dressed(self._apply(given), given.table, X)

    def fit_transform(self, X: Any, y: Any = None, adjacency: Any = None) -> Any:
        """``fit`` and ``transform`` in one."""
        given = self._data(X, adjacency, self.adjacency)
        filtered = self._apply(given)
        self._remember(given, adjacency)
        return self._dressed(filtered, given.table, X)

    def _data(self, X: Any, adjacency: Any, standing: Any) -> _Data:
        """What is filtered: over the graph that comes with it, or else over the one that stands."""
        given = _inputs.unpack(X, None, adjacency).without_labels()
        if given.adjacency is None:
            given.adjacency = standing
        checked = _inputs.check(given)
        return _Data(checked.table, checked.dataset(Workers.of(self.n_jobs, self.device)))

    def _remember(self, given: _Data, adjacency: Any) -> None:
        self._remember_features(given.table.columns, given.table.names)
        self._graph = adjacency

    def _design(self) -> dict[str, Any]:
        return design_settings(
            self.filter, self.depth, self.tau, self.time, self.normalization, self.row_normalize
        )

    def _apply(self, given: _Data) -> Any:
        return apply(given.dataset, self._design(), Workers.of(self.n_jobs, self.device))

    _routed = {"fit": ("adjacency",), "transform": ("adjacency",)}

    def set_fit_request(self, *, adjacency: Any = UNCHANGED) -> GraphFilter:
        """Whether a pipeline passes a graph on to ``fit``, with scikit-learn's metadata routing."""
        return self._set_request("fit", adjacency=adjacency)

    def set_transform_request(self, *, adjacency: Any = UNCHANGED) -> GraphFilter:
        """Whether a pipeline passes a graph on to ``transform``."""
        return self._set_request("transform", adjacency=adjacency)

    def set_output(self, *, transform: str | None = None) -> GraphFilter:
        """What ``transform`` returns: "default" for an array, "pandas" or "polars" for a data frame."""
        if transform not in (None, "default", "pandas", "polars"):
            raise ValueError(f"transform is {transform!r}, but must be default, pandas or polars")
        if transform is not None:
            self._output = transform
        return self

    def _dressed(self, filtered: Any, table: Features, X: Any) -> Any:
        """In the form that was asked for here, or of all of scikit-learn."""
        form = getattr(self, "_output", None)
        sklearn = sys.modules.get("sklearn")
        if form is None and sklearn is not None:
            form = sklearn.get_config()["transform_output"]
        if isinstance(table.table, OnGpu) and Workers.of(self.n_jobs, self.device).device != "cpu":
            filtered = table.table.alike(filtered)
        if form not in ("pandas", "polars"):
            return filtered
        filtered = array(filtered)
        columns = list(self.get_feature_names_out())
        if form == "polars":
            return import_module("polars").DataFrame(filtered, schema=columns)
        return import_module("pandas").DataFrame(filtered, columns=columns, index=getattr(X, "index", None))

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

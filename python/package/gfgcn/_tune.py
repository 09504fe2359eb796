"""Searching for the best model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from . import _inputs
from ._classifier import GradientFreeClassifier
from ._estimator import warn
from ._learner import Found
from ._regressor import GradientFreeRegressor
from ._results import Results
from ._settings import flag
from ._types import Array

# Parts of a model that are named where it is described.
_SHOWN = 5


@dataclass(frozen=True)
class Tuned:
    """What a search found. Scores are shares from 0 to 1, as scikit-learn has them."""

    model: Union[GradientFreeClassifier, GradientFreeRegressor]
    """The model, fitted."""
    stacked: bool
    """Whether it adds up several, because that is better than the default beyond chance."""
    shares: dict[str, float]
    """How much each part has to do with its predictions, by name; they add up to 1."""
    score: float
    """The metric on training nodes, each predicted by what is learnt without it."""
    expected: float
    """The metric to expect on other nodes; it allows for having searched."""
    std_error: float
    """The standard error of that."""
    interval: tuple[float, float]
    """From where to where it is with a confidence of 95 %."""
    own_features_suffice: bool
    """Whether a node's own features alone are as good: the graph does not help."""
    board: Results
    """Everything that was tried, the best first, with its design, kernel, λ, left-out score and weight in the sum."""
    left_out: list[str]
    """What would take too long or too much memory on so many nodes, and was not tried."""
    seconds: dict[str, float]
    """How long each stage took."""

    def classifier(self) -> GradientFreeClassifier:
        """The model where it predicts classes or label sets; it is fitted already."""
        if not isinstance(self.model, GradientFreeClassifier):
            raise AttributeError("values were learnt, which a regressor predicts: .model")
        return self.model

    def __repr__(self) -> str:
        found = self.model._search_found()
        parts = [f"{100 * share:.0f} % {name}" for name, share in self.shares.items()]
        others = [f"{len(parts) - _SHOWN} others"] if len(parts) > _SHOWN + 1 else parts[_SHOWN:]
        made_of = " + ".join(parts[:_SHOWN] + others)
        low, high = (_shown(value, found) for value in self.interval)
        alone = "; own features alone are as good" if self.own_features_suffice and self.stacked else ""
        expected = f"{_shown(self.expected, found)}{' %' if found.is_share else ''}"
        return (
            f"{made_of}: chosen from {len(self.board)} models, expected {found.description} {expected} "
            f"(95 % interval {low} to {high}){alone}"
        )

    def _repr_html_(self) -> str:
        import html

        return f"<p>{html.escape(repr(self))}</p>{self.board._repr_html_()}"


def _shown(value: float, found: Found) -> str:
    return f"{100 * value:.1f}" if found.is_share else f"{value:.3f}"


def tune(
    X: Any,
    y: Any = None,
    adjacency: Any = None,
    *,
    directed: bool | None = None,
    values: bool = False,
    normalization: str = "sym",
    fit_intercept: bool = False,
    class_weight: str | dict[Any, float] | None = None,
    scoring: str | None = None,
    n_jobs: int | None = None,
    device: str | None = None,
) -> Tuned:
    """Chooses what is computed from the graph, every λ and how much each part counts, by exact leave-one-out on the labels.

    The same as :class:`GradientFreeClassifier` does without parameters, or with ``values=True``
    :class:`GradientFreeRegressor`, and parameters are as of these. The default, SSGC at depth 8, is only replaced by what is
    better beyond chance.

    Examples
    --------
    >>> from gfgcn import datasets, tune
    >>> cora = datasets.load("cora")
    >>> tuned = tune(cora.X, cora.y_train, cora.adjacency)
    >>> tuned.stacked
    False
    >>> predicted = tuned.model.predict()
    """
    given = _inputs.unpack(X, y, adjacency, directed)
    if given.y is None:
        raise ValueError("there is nothing to learn from: y is None")
    model: Union[GradientFreeClassifier, GradientFreeRegressor]
    if flag("values", values):
        if class_weight is not None or flag("fit_intercept", fit_intercept):
            raise ValueError("class_weight and fit_intercept are for classes; values have neither to be said")
        model = GradientFreeRegressor(normalization=normalization, scoring=scoring, n_jobs=n_jobs, device=device)
    else:
        model = GradientFreeClassifier(
            normalization=normalization,
            fit_intercept=fit_intercept,
            class_weight=class_weight,
            scoring=scoring,
            n_jobs=n_jobs,
            device=device,
        )
    checked = model._learn(given, None)
    _warn_of_single_nodes(checked)
    found = model._search_found()
    kept = Tuned.__dataclass_fields__
    return Tuned(model=model, **{name: value for name, value in found._asdict().items() if name in kept})


def _warn_of_single_nodes(checked: _inputs.Checked) -> None:
    if not isinstance(checked.targets, _inputs.Labels):
        return
    counts: Array = np.bincount(checked.targets.codes[checked.trains()])
    single = [name for name, count in zip(checked.targets.names, counts) if count == 1]
    if single:
        warn(
            f"classes with a single training node ({', '.join(single[:5])}): with that node left out nothing says what "
            "the class is, so leave-one-out counts it as wrong"
        )

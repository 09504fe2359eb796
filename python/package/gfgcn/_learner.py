"""What the classifier and the regressor have in common: fitting, predicting, what was found, files."""

from __future__ import annotations

import math
import os
from typing import Any, NamedTuple, TypeVar

import numpy as np

from . import _inputs
from ._estimator import UNCHANGED, Estimator, not_fitted_error, warn
from ._gfgcn import Dataset, Model, fit, search
from ._results import Results
from ._settings import PLAIN, USUAL_METRIC, Plain, Scoring, Workers, flag, plain_settings, scoring_settings
from ._types import Array

Self = TypeVar("Self", bound="Learner")

# What to expect where too few nodes can tell: the score, its standard error and its interval.
_UNKNOWN = (math.nan, math.nan, (math.nan, math.nan))


class Found(NamedTuple):
    """What a search found besides the model; scores are of the metric, as it was asked for."""

    board: Results
    shares: dict[str, float]
    stacked: bool
    description: str
    is_share: bool
    score: float
    expected: float
    std_error: float
    interval: tuple[float, float]
    own_features_suffice: bool
    left_out: list[str]
    sample: int | None
    seconds: dict[str, float]

    @classmethod
    def read(cls, found: dict[str, Any], sign: float) -> Found:
        """What the engine says, with the sign that was asked for."""
        expected, std_error, ends = found["expected"] or _UNKNOWN
        low, high = sorted(sign * end for end in ends)
        board = [{**row, "loo_score": sign * row["loo_score"]} for row in found["board"]]
        kept = ("stacked", "description", "is_share", "own_features_suffice", "left_out", "sample", "seconds")
        return cls(
            board=Results(board, hidden=["design"]),
            shares=dict(found["shares"]),
            score=sign * found["score"],
            expected=sign * expected,
            std_error=std_error,
            interval=(low, high),
            **{name: found[name] for name in kept},
        )


class Predicted(NamedTuple):
    """What the engine says of every node, and what the nodes are called."""

    decoded: Any
    scores: Array
    nodes: list[Any] | None

    def of(self, nodes: Any) -> Predicted:
        """Of some of these nodes."""
        asked = node_numbers(nodes, self.nodes, len(self.scores))
        decoded = None if self.decoded is None else self.decoded[asked]
        names = [int(k) if self.nodes is None else self.nodes[k] for k in asked]
        return Predicted(decoded, self.scores[asked], names)


def node_numbers(nodes: Any, names: list[Any] | None, rows: int) -> Array:
    """The numbers of nodes that are given by name where they have names, by number or by a mask."""
    if names is not None and not (isinstance(nodes, np.ndarray) and nodes.dtype == bool):
        place = {name: k for k, name in enumerate(names)}
        strangers = [node for node in nodes if node not in place]
        if strangers:
            raise ValueError(f"there is no node {strangers[0]!r} in the graph")
        nodes = [place[node] for node in nodes]
    return _inputs.part(np.asarray(nodes, dtype=np.int64) if len(nodes) == 0 else nodes, rows, "given")


def features_of(model: Model) -> tuple[int, list[str] | None]:
    """How many columns X has for a model, and what they are called."""
    encoded = model.encoded_columns
    return (model.features, model.feature_names) if encoded is None else (len(encoded), encoded)


class Lesson(NamedTuple):
    """What there is to learn, and how: a model that is described, or None for the search."""

    checked: _inputs.Checked
    plain: Plain | None
    scoring: Scoring
    objective: dict[str, Any]
    train: Array
    validation: Array
    # Of the training nodes, where they do not count alike.
    weights: Array | None


class Learner(Estimator):
    """A graph, features and something that is known of some nodes: the rest of it is predicted."""

    # What is learnt: "classes", or "values".
    _kind = "classes"
    # Beside those of the regressor, which every learner has.
    scoring: str | None
    n_jobs: int | None
    device: str | None
    lam: str | float | None
    keep_training: bool
    normalization: str

    def _learn(
        self, given: _inputs.Given, validation: Any, sample_weight: Any = None, keep: bool | None = None
    ) -> _inputs.Checked:
        """Searches, or trains the model that the parameters ask for; predicts every node on the way."""
        lesson = self._lesson(given, validation, sample_weight)
        checked, plain, scoring, objective, train, chooses, weights = lesson
        params = self.get_params()
        keep = flag("keep_training", self.keep_training) if keep is None else keep
        workers = Workers.of(self.n_jobs, self.device)
        data = checked.dataset(workers, keep)
        found = None
        if plain is None:
            intercept = flag("fit_intercept", params.get("fit_intercept", False))
            outcome = search(data, params["normalization"], intercept, objective, (train, weights), keep, workers)
            model, (decoded, scores, _), report = outcome
            found = Found.read(report, scoring.sign)
        else:
            model, (decoded, scores, _) = fit(data, *plain, objective, (train, weights), chooses, keep, workers)
        self._remember_features(checked.table.columns, checked.table.names)
        self._model, self._found, self._sign = model, found, scoring.sign
        self._training_graph: Predicted | None = Predicted(decoded, scores, checked.graph.nodes)
        self._graph_had: tuple[bool, bool | None, int | None]
        self._graph_had = (given.adjacency is not None, checked.graph.directed, checked.rows)
        self._data: Dataset | None = data if keep else None
        self._names: list[Any] | None = checked.graph.nodes
        self._remember_nodes(checked.graph.nodes)
        self._remember_targets(checked.targets)
        return checked

    def __getstate__(self) -> dict[str, Any]:
        # The training graph is not part of a model; what was predicted of it is.
        if self.__dict__.get("_data") is None:
            return dict(self.__dict__)
        return {**self.__dict__, "_data": None, "_training_graph": self._of_training_graph()}

    def _of_training_graph(self) -> Predicted | None:
        """What is predicted of the training graph, when it is first asked for after a change; None where it is not known."""
        if self._training_graph is None and self._data is not None:
            decoded, scores, _ = self._model.predict(self._data, None, Workers.of(self.n_jobs, self.device))
            self._training_graph = Predicted(decoded, scores, self._names)
        return self._training_graph

    def _lesson(self, given: _inputs.Given, validation: Any, sample_weight: Any = None) -> Lesson:
        """What there is to learn, and how."""
        if given.y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y is None."
            )
        plain, scoring = plain_settings(self.get_params()), scoring_settings(self.scoring)
        checked = _inputs.check(given, self._kind, hints=True)
        objective = {"metric": scoring.metric, "class_weight": self._class_weights(checked.targets)}
        chooses = self._validation_nodes(given, validation, checked.rows)
        trains = checked.trains()
        if given.train is None:
            trains[chooses] = False
        weights = _inputs.sample_weights(sample_weight, checked.rows, checked.graph.nodes)
        if weights is not None:
            if trains.any() and not weights[trains].any():
                raise ValueError("the weights of all labelled nodes are zero, so there is nothing to learn from")
            trains &= weights > 0
        train = _inputs.training_nodes(trains)
        return Lesson(checked, plain, scoring, objective, train, chooses, None if weights is None else weights[train])

    def _class_weights(self, targets: _inputs.Targets) -> Any:
        """As the engine reads them."""
        return None

    def _remember_targets(self, targets: _inputs.Targets) -> None:
        """How predictions become what y was."""
        raise NotImplementedError

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

    def _predicted(self, X: Any, adjacency: Any, directed: Any, nodes: Any = None) -> Predicted:
        """Of the training graph, or of another one; of every node, or of some."""
        self._check_is_fitted()
        workers = Workers.of(self.n_jobs, self.device)
        if X is None and adjacency is None:
            if nodes is not None and self._training_graph is None and self._data is not None:
                return self._few(self._data, nodes, self._names, self._graph_had[2] or 0)
            predicted = self._of_training_graph()
            if predicted is None:
                raise not_fitted_error()(
                    "the training graph is not part of a model file; pass X and adjacency to predict"
                )
            return predicted if nodes is None else predicted.of(nodes)
        checked = self._other_data(X, adjacency, directed)
        names = checked.graph.nodes
        if nodes is None:
            decoded, scores, _ = self._model.predict(checked.dataset(workers), None, workers)
            return Predicted(decoded, scores, names)
        return self._few(checked.dataset(workers), nodes, names, checked.rows)

    def _few(self, data: Dataset, nodes: Any, names: list[Any] | None, rows: int) -> Predicted:
        """Of some nodes, at the cost of what is around them."""
        asked = node_numbers(nodes, names, rows)
        decoded, scores, _ = self._model.predict(data, asked, Workers.of(self.n_jobs, self.device))
        return Predicted(decoded, scores, [int(k) if names is None else names[k] for k in asked])

    def _other_data(self, X: Any, adjacency: Any, directed: Any, new_features: bool = False) -> _inputs.Checked:
        """A graph like the one of ``fit``, without labels; with the same features unless new ones may come."""
        if X is None and self.n_features_in_:
            raise ValueError("a graph was passed without the features of its nodes: X")
        had_edges, was_directed, rows = self._graph_had
        given = _inputs.unpack(X, None, adjacency, directed).without_labels()
        if given.adjacency is None and had_edges:
            warn(
                "the model was fitted on a graph, but no adjacency was passed now: nodes are taken for unconnected",
                _inputs.GraphWarning,
            )
        if was_directed is not None and given.adjacency is not None and had_edges:
            if directed is not None and given.directed != was_directed:
                raise ValueError(f"directed is {directed!r}, but the model was fitted with directed={was_directed}")
            one_way = getattr(given.adjacency, "is_directed", None)
            if one_way is not None and one_way() and not was_directed:
                warn("the model was fitted on an undirected graph: directions are not used", _inputs.GraphWarning)
            given.directed = was_directed
        given.rows_before, given.like = rows, self._model
        checked = _inputs.check(given)
        if not new_features:
            self._check_features(checked.table.columns, checked.table.names)
        return checked

    @property
    def lam_(self) -> float:
        """λ as it was given or chosen."""
        self._check_is_fitted()
        if self._model.lam is None:
            raise AttributeError("several solutions are added up, each with its own λ; board_ has them")
        return self._model.lam

    @property
    def loo_score_(self) -> float:
        """The metric on the training nodes, each predicted by what is learnt without it."""
        self._check_is_fitted()
        if self._found is not None:
            return self._found.score
        score = self._model.selection_score
        if score is None or self._model.params().get("lam", "loo") != "loo":
            raise AttributeError('loo_score_ is known after a search, or a fit with lam="loo"')
        return self._sign * score

    @property
    def board_(self) -> Results:
        """Everything that the search tried, the best first: name, design, kernel, λ, left-out score, weight in the sum."""
        return self._search_found().board

    @property
    def shares_(self) -> dict[str, float]:
        """How much each part has to do with the predictions, by its name; they add up to 1."""
        return dict(self._search_found().shares)

    @property
    def stacked_(self) -> bool:
        """Whether the search added up several models, because that is better than the default beyond chance."""
        return self._search_found().stacked

    @property
    def expected_score_(self) -> float:
        """The metric to expect on other nodes; it allows for having searched. NaN where there are too few nodes to tell."""
        return self._search_found().expected

    def _search_found(self) -> Found:
        self._check_is_fitted()
        if self._found is None:
            raise AttributeError("this is known after a search: a fit with design='auto' and nothing else about the model")
        return self._found

    def _weights(self) -> tuple[Array, Array]:
        self._check_is_fitted()
        weights = self._model.weights()
        if weights is None:
            kernel = self._model.params().get("kernel")
            what = "this is a sum of several models" if kernel is None else f"this one is {kernel}"
            raise AttributeError(f"only a linear kernel has coefficients; {what}")
        return weights

    def save(self, path: str | os.PathLike[str], overwrite: bool = True) -> None:
        """Writes the model to a file that ``load`` and the command line ``gfgcn predict`` read.

        Holds what is needed to predict, and with ``keep_training`` to learn more and forget, not the training graph.
        """
        self._check_is_fitted()
        self._model.save(path, overwrite)

    @classmethod
    def load(cls: type[Self], path: str | os.PathLike[str]) -> Self:
        """Reads a model, also one of the command line's.

        Classes are what the file calls them: integers if all names are whole numbers in increasing order, text otherwise.
        ``n_jobs``, ``device``, and whatever parameters of the model are the default, are not set; of a sum that was searched for
        no parameter is.
        """
        model = Model.load(path)
        if (model.kind == "values") != (cls._kind == "values"):
            other = "GradientFreeRegressor" if model.kind == "values" else "GradientFreeClassifier"
            raise ValueError(f"this is a model of {model.kind}; load it with {other}")
        params = model.params()
        if params.get("scoring") == USUAL_METRIC[model.kind]:
            del params["scoring"]
        usual = {name: value for name, value in PLAIN.items() if name != "filter"}
        known = cls._defaults()
        params["keep_training"] = model.keeps_training
        loaded = cls(**{k: v for k, v in params.items() if k in known and (k not in usual or usual[k] != v)})
        loaded._remember_features(*features_of(model))
        loaded._model, loaded._found, loaded._sign, loaded._training_graph = model, None, 1.0, None
        loaded._data, loaded._names = None, None
        loaded._graph_had = (False, None, None)
        loaded._name(model)
        return loaded

    def _name(self, model: Model) -> None:
        """The same for a loaded model."""
        raise NotImplementedError

    _routed = {
        "fit": ("adjacency", "directed", "sample_weight", "validation"),
        "predict": ("adjacency", "directed", "nodes"),
        "score": ("adjacency", "directed", "mask", "sample_weight"),
    }

    def set_fit_request(
        self: Self,
        *,
        adjacency: Any = UNCHANGED,
        directed: Any = UNCHANGED,
        sample_weight: Any = UNCHANGED,
        validation: Any = UNCHANGED,
    ) -> Self:
        """Whether a pipeline passes a graph or weights on to ``fit``, with scikit-learn's metadata routing."""
        graph = {"adjacency": adjacency, "directed": directed}
        return self._set_request("fit", **graph, sample_weight=sample_weight, validation=validation)

    def set_predict_request(
        self: Self, *, adjacency: Any = UNCHANGED, directed: Any = UNCHANGED, nodes: Any = UNCHANGED
    ) -> Self:
        """Whether a pipeline passes a graph on to ``predict``."""
        return self._set_request("predict", adjacency=adjacency, directed=directed, nodes=nodes)

    def set_score_request(
        self: Self,
        *,
        adjacency: Any = UNCHANGED,
        directed: Any = UNCHANGED,
        mask: Any = UNCHANGED,
        sample_weight: Any = UNCHANGED,
    ) -> Self:
        """Whether a pipeline passes a graph or weights on to ``score``."""
        graph = {"adjacency": adjacency, "directed": directed}
        return self._set_request("score", **graph, mask=mask, sample_weight=sample_weight)

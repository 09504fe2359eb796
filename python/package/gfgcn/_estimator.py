"""The conventions of a scikit-learn estimator, without scikit-learn: importing it takes longer than most fits."""

from __future__ import annotations

import copy
import html
import inspect
import os
import sys
from typing import Any, TypeVar

Self = TypeVar("Self", bound="Estimator")


# What scikit-learn writes where a request is left as it is.
UNCHANGED = "$UNCHANGED$"


class Estimator:
    """Parameters are the arguments of ``__init__``, which only stores them."""

    # By method: what scikit-learn may pass on to it from a pipeline, besides X and y.
    _routed: dict[str, tuple[str, ...]] = {}

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        return {parameter.name: parameter.default for parameter in parameters}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters and their values."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self: Self, **params: Any) -> Self:
        """Changes parameters; takes effect with the next ``fit``."""
        names = list(self._defaults())
        for name, value in params.items():
            if name not in names:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {names}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        changed = (
            f"{name}={getattr(self, name)!r}"
            for name, default in self._defaults().items()
            if not _same(getattr(self, name), default)
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str:
        """For notebooks: the parameters that were changed, and what was learnt."""
        fitted = "fitted" if self.__sklearn_is_fitted__() else "not fitted yet"
        facts = [("estimator", repr(self)), ("state", fitted)]
        for name in ("classes_", "n_features_in_", "loo_score_", "expected_score_", "shares_"):
            try:
                value = getattr(self, name)
            except Exception:  # noqa: BLE001 - what is not known is not shown
                continue
            facts.append((name, f"{value:.4f}" if isinstance(value, float) else str(value)))
        rows = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in facts)
        return f"<table>{rows}</table>"

    def get_metadata_routing(self) -> Any:
        """What scikit-learn passes on to which method, where its metadata routing is enabled."""
        from sklearn.utils.metadata_routing import MetadataRequest

        if hasattr(self, "_metadata_request"):
            return copy.deepcopy(self._metadata_request)
        request = MetadataRequest(owner=self)
        for method, names in self._routed.items():
            for name in names:
                getattr(request, method).add_request(param=name, alias=None)
        return request

    def _set_request(self: Self, method: str, **requests: Any) -> Self:
        routing = self.get_metadata_routing()
        for name, alias in requests.items():
            if alias != UNCHANGED:
                getattr(routing, method).add_request(param=name, alias=alias)
        self._metadata_request = routing  # the name under which scikit-learn's `clone` looks for it
        return self

    def _check_is_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise not_fitted_error()(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments "
                "before using this estimator."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def _check_features(self, columns: int, names: list[str] | None) -> None:
        """Refuses data with other features than those of ``fit``."""
        fitted = getattr(self, "feature_names_in_", None)
        if fitted is not None and names is not None and list(fitted) != names:
            unseen = sorted(set(names) - set(fitted))
            missing = sorted(set(fitted) - set(names))
            said = ["The feature names should match those that were passed during fit."]
            if unseen:
                said += ["Feature names unseen at fit time:"] + [f"- {name}" for name in unseen[:5]]
            if missing:
                said += ["Feature names seen at fit time, yet now missing:"] + [f"- {name}" for name in missing[:5]]
            if not unseen and not missing:
                said += ["Feature names must be in the same order as they were in fit."]
            raise ValueError("\n".join(said) + "\n")
        name = type(self).__name__
        if fitted is not None and names is None:
            warn(f"X does not have valid feature names, but {name} was fitted with feature names")
        if fitted is None and names is not None:
            warn(f"X has feature names, but {name} was fitted without feature names")
        expected: int = getattr(self, "n_features_in_")
        if columns != expected:
            raise ValueError(f"X has {columns} features, but {name} is expecting {expected} features as input.")

    def _remember_features(self, columns: int, names: list[str] | None) -> None:
        import numpy as np

        self.n_features_in_ = columns
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_


def _same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, (str, int, float)) and bool(value == default))


def not_fitted_error() -> type[Exception]:
    """Scikit-learn's, for those who use it."""
    loaded = sys.modules.get("sklearn.exceptions")
    return getattr(loaded, "NotFittedError", NotFittedError)


class NotFittedError(ValueError, AttributeError):
    """Something was asked of an estimator that only ``fit`` can tell."""


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns whoever called into this package, wherever in it the reason was found."""
    import warnings

    package = os.path.dirname(__file__)
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        depth, frame = depth + 1, frame.f_back
    warnings.warn(message, category, stacklevel=depth)

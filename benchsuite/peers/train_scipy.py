"""Ridge regression at a given λ by SciPy, from filtered training features to weights."""

import numpy as np
import scipy.linalg
from contestant import arguments, serve
from problem import norm
from shallow import Shallow

options = arguments("data", "splits", **{"lambda": float}, form=str, precision=str)
problem = Shallow(options.data, options.splits)
penalty = getattr(options, "lambda")
precision = np.dtype(options.precision)


def dual():
    """The paper's formula: Λ = (λM + I)⁻¹ Y, weights λ Fᵀ Λ."""
    features = problem.train.astype(precision)
    system = penalty * (features @ features.T)
    system[np.diag_indices_from(system)] += 1
    multipliers = scipy.linalg.solve(system, problem.targets.astype(precision), assume_a="pos")
    return penalty * (features.T @ multipliers)


def primal():
    """The smaller side: (FᵀF + ξI)⁻¹ FᵀY."""
    features = problem.train.astype(precision)
    system = features.T @ features
    system[np.diag_indices_from(system)] += 1 / penalty
    right_side = features.T @ problem.targets.astype(precision)
    return scipy.linalg.solve(system, right_side, assume_a="pos")


serve(
    {"dual": dual, "primal": primal}[options.form],
    lambda weights: {
        "check": {"weights": norm(weights), "accuracy": problem.accuracy(weights)},
    },
    ["scipy", "numpy"],
)

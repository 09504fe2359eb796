"""Ridge regression over the grid of λ, λ chosen on the validation nodes: three ways to write it.

Each takes the filtered features F of all nodes and a split, and returns scores of the test nodes
(or of all nodes) and the chosen ξ = 1/λ. Single precision up to F, double from the products of its
rows on: with less, the smallest ξ of the grid would mean nothing.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from problem import accuracy, penalties


def literal(features, targets, labels, split, score):
    """The paper's formulas as they stand: for every λ, Λ = (λM + I)⁻¹ Y."""
    train = features[split.train].astype(np.float64)
    gram = train @ train.T
    between = features[split.validation].astype(np.float64) @ train.T
    best = (-1.0, None, None)
    for xi in penalties(gram.diagonal().mean()):
        penalty = 1 / xi
        system = penalty * gram + np.eye(len(train))
        multipliers = scipy.linalg.solve(system, targets)
        hits = accuracy(penalty * between @ multipliers, labels[split.validation])
        if hits > best[0]:
            best = (hits, xi, penalty * multipliers)
    _, xi, coefficients = best
    return features[score].astype(np.float64) @ (train.T @ coefficients), xi


def smaller_side(features, targets, labels, split, score):
    """Primal or dual, whichever is smaller; one Cholesky factorisation per λ."""
    train = features[split.train].astype(np.float64)
    primal = train.shape[1] < train.shape[0]
    gram = train.T @ train if primal else train @ train.T
    right_side = train.T @ targets if primal else targets
    validation = features[split.validation].astype(np.float64)
    if not primal:
        validation = validation @ train.T
    diagonal = np.diag_indices_from(gram)
    mean = np.trace(gram) / len(train)
    best = (-1.0, None, None)
    for xi in penalties(mean):
        system = gram.copy()
        system[diagonal] += xi
        try:
            factor = scipy.linalg.cho_factor(system, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:  # ξ is lost beside the largest eigenvalue
            continue
        solution = scipy.linalg.cho_solve(factor, right_side, check_finite=False)
        hits = accuracy(validation @ solution, labels[split.validation])
        if hits > best[0]:
            best = (hits, xi, solution)
    _, xi, solution = best
    weights = solution if primal else train.T @ solution
    return features[score].astype(np.float64) @ weights, xi


def eigen(features, targets, labels, split, score):
    """One eigendecomposition of the smaller side for all λ."""
    train = features[split.train].astype(np.float64)
    primal = train.shape[1] < train.shape[0]
    gram = train.T @ train if primal else train @ train.T
    mean = np.trace(gram) / len(train)
    values, vectors = np.linalg.eigh(gram)
    values = np.maximum(values, 0)
    right_side = vectors.T @ (train.T @ targets if primal else targets)
    validation = features[split.validation].astype(np.float64)
    if not primal:
        validation = validation @ train.T
    validation = validation @ vectors
    best = (-1.0, None, None)
    for xi in penalties(mean):
        rotated = right_side / (values + xi)[:, None]
        hits = accuracy(validation @ rotated, labels[split.validation])
        if hits > best[0]:
            best = (hits, xi, rotated)
    _, xi, rotated = best
    solution = vectors @ rotated
    weights = solution if primal else train.T @ solution
    return features[score].astype(np.float64) @ weights, xi

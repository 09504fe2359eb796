"""Exponents: how time and memory grow with a size."""

from __future__ import annotations

from math import log


def exponent(points: list) -> float | None:
    """p of y ≈ c · x^p by least squares on logarithms; `points` are pairs of positive numbers."""
    xs, ys = [log(x) for x, _ in points], [log(y) for _, y in points]
    if len(set(xs)) < 2:
        return None
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / spread

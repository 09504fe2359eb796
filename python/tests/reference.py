"""The mathematics again, as directly as NumPy can say it: dense, in double precision, nothing shared."""

from __future__ import annotations

import numpy as np


def normalized(adjacency: np.ndarray, how: str) -> np.ndarray:
    """Â of a symmetric adjacency matrix without self-loops."""
    with_loops = adjacency + np.eye(len(adjacency))
    degrees = with_loops.sum(axis=1)
    if how == "row":
        return with_loops / degrees[:, None]
    return with_loops / np.sqrt(np.outer(degrees, degrees))


def filtered(adjacency, X, filter="ssgc", depth=8, tau=0.05, time=5.27, normalization="sym"):
    a = normalized(adjacency, normalization)
    X = np.asarray(X, dtype=np.float64)
    if filter == "sgc":
        return np.linalg.matrix_power(a, depth) @ X
    if filter == "dgc":
        step = (1 - time / depth) * np.eye(len(a)) + time / depth * a
        return np.linalg.matrix_power(step, depth) @ X
    powers, total = np.eye(len(a)), np.zeros_like(a)
    for _ in range(depth):
        powers = powers @ a
        total += (1 - tau) * powers + tau * np.eye(len(a))
    return total / depth @ X


def kernel_matrix(kernel: str, f: np.ndarray, g: np.ndarray) -> np.ndarray:
    """m(f, g) of kernels whose parameters are all given."""
    name, _, text = kernel.partition(":")
    options = dict(pair.split("=") for pair in text.split(",") if pair)
    gamma = float(options.get("gamma", 1))
    dot = f @ g.T
    if name == "linear":
        return dot
    if name == "polynomial":
        return (gamma * dot + float(options["coefficient"])) ** int(options["degree"])
    difference = f[:, None, :] - g[None, :, :]
    if name == "rbf":
        return np.exp(-gamma * (difference**2).sum(axis=2))
    if name == "laplacian":
        return np.exp(-gamma * np.abs(difference).sum(axis=2))
    lengths = np.outer(np.linalg.norm(f, axis=1), np.linalg.norm(g, axis=1))
    cosine = np.clip(np.divide(dot, lengths, out=np.zeros_like(dot), where=lengths > 0), -1, 1)
    if name == "cosine":
        return cosine
    angle = np.arccos(cosine)
    assert name == "arccosine" and options["order"] == "1"
    return lengths / np.pi * (np.sin(angle) + (np.pi - angle) * np.cos(angle))


def targets(codes: np.ndarray, classes: int) -> np.ndarray:
    """One-hot; for two classes one column of -1 and 1."""
    if classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.eye(classes)[codes]


def scores(F, train, codes, classes, lam, kernel="linear", intercept=False):
    """λ m(F, F_train) Λ with Λ = (λ M + I)^-1 Y; with an intercept, of what is left beside a free constant."""
    m = kernel_matrix(kernel, F[train], F[train])
    y = targets(codes, classes)
    n = len(train)
    if intercept:
        system = np.block([[m + np.eye(n) / lam, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
        solution = np.linalg.solve(system, np.vstack([y, np.zeros((1, y.shape[1]))]))
        return kernel_matrix(kernel, F, F[train]) @ solution[:-1] + solution[-1]
    return lam * kernel_matrix(kernel, F, F[train]) @ np.linalg.solve(lam * m + np.eye(n), y)


def left_out_accuracy(F, train, codes, classes, lam):
    """Really leaves each training node out and solves again. Its class stays a column, empty or not."""
    right = 0
    for k, node in enumerate(train):
        rest = np.delete(np.arange(len(train)), k)
        s = scores(F, train[rest], codes[rest], classes, lam)[node]
        right += (int(s[0] > 0) if classes == 2 else int(np.argmax(s))) == codes[k]
    return right / len(train)

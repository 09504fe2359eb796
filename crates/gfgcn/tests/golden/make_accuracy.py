"""Accuracies by an independent float64 implementation, for accuracy.json.

Follows the paper's formulas literally: dense features, one product per hop, the dual solution by
an eigendecomposition of the kernel matrix, left-out predictions by alpha_i / G_ii, lambda by the
best accuracy on the validation nodes or over the left-out nodes. Its random splits have nothing in
common with those of gfgcn. Needs numpy and scipy.

    python make_accuracy.py FOLDER_WITH_NPZ_FILES > accuracy.json
"""

import json
import sys

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

RHO = 10.0 ** np.arange(2, -10.01, -0.5)
DEPTHS = [2, 4, 8, 16, 32, 64, 128]
# file, splits, models, depths
RUNS = [
    ("cora", 20, ["sgc", "ssgc", "dgc"], DEPTHS),
    ("citeseer", 20, ["sgc", "ssgc", "dgc"], DEPTHS),
    ("cora_ml", 20, ["sgc", "ssgc", "dgc"], DEPTHS),
    ("pubmed", 5, ["sgc", "ssgc", "dgc"], [2, 16]),
    ("amazon_computers", 5, ["sgc", "ssgc"], [2, 8]),
]


def load(path):
    z = np.load(path)
    csr = lambda p: sp.csr_matrix(  # noqa: E731
        (z[p + "_data"], z[p + "_indices"], z[p + "_indptr"]), shape=z[p + "_shape"]
    ).astype(float)
    a, x, y = csr("adj"), csr("attr"), z["labels"]
    _, component = connected_components(a, directed=False)
    keep = np.flatnonzero(component == np.bincount(component).argmax())
    return a[keep][:, keep], x[keep].toarray(), y[keep]


def normalized(a):
    a = a + sp.eye(a.shape[0])
    d = sp.diags(np.asarray(a.sum(1)).ravel() ** -0.5)
    return (d @ a @ d).tocsr()


def filtered(s, x, model, depth, tau=0.05, time=5.27):
    f = x
    if model == "sgc":
        for _ in range(depth):
            f = s @ f
        return f
    if model == "ssgc":
        total = tau * x
        for _ in range(depth):
            f = s @ f
            total = total + (1 - tau) / depth * f
        return total
    for _ in range(depth):
        f = (1 - time / depth) * f + time / depth * (s @ f)
    return f


def split(y, seed):
    random = np.random.default_rng(seed)
    parts = [], [], []
    for c in np.unique(y[y >= 0]):
        nodes = random.permutation(np.flatnonzero(y == c))
        first, second = round(len(nodes) * 0.1), round(len(nodes) * 0.2)
        for part, some in zip(parts, np.split(nodes, [first, second])):
            part.extend(some)
    return map(np.array, parts)


def accuracies(f, y, seed):
    """Test accuracy with lambda chosen on validation nodes and by leave-one-out, in percent."""
    train, validation, test = split(y, seed)
    targets = np.eye(y.max() + 1)[y[train]]
    ft = f[train]
    m = ft @ ft.T
    w, q = np.linalg.eigh(m)
    inputs = {"validation": f[validation] @ ft.T @ q, "test": f[test] @ ft.T @ q}
    best = {"validation": (-1, 0), "loo": (-1, 0)}
    for rho in RHO:
        inverse = 1 / (w + rho * m.diagonal().mean())
        b = inverse[:, None] * (q.T @ targets)
        left_out = targets - (q @ b) / (q**2 @ inverse)[:, None]
        on_test = 100 * ((inputs["test"] @ b).argmax(1) == y[test]).mean()
        scores = {
            "validation": ((inputs["validation"] @ b).argmax(1) == y[validation]).mean(),
            "loo": (left_out.argmax(1) == y[train]).mean(),
        }
        for name, score in scores.items():
            if score > best[name][0]:
                best[name] = (score, on_test)
    return {name: on_test for name, (_, on_test) in best.items()}


def main(folder):
    cells = []
    for name, splits, models, depths in RUNS:
        a, x, y = load(f"{folder}/{name}.npz")
        s = normalized(a)
        for model in models:
            for depth in depths:
                f = filtered(s, x, model, depth)
                runs = [accuracies(f, y, 1000 + k) for k in range(splits)]
                cell = {"dataset": name, "model": model, "depth": depth, "splits": splits}
                for select in ["validation", "loo"]:
                    values = np.array([run[select] for run in runs])
                    error = values.std(ddof=1) / np.sqrt(splits)
                    cell[select] = {
                        "mean": round(float(values.mean()), 3),
                        "std_error": round(float(error), 3),
                    }
                cells.append(cell)
                print(json.dumps(cell), file=sys.stderr, flush=True)
    print("[\n" + ",\n".join(" " + json.dumps(cell) for cell in cells) + "\n]")


main(sys.argv[1])

"""The figures of a run as a table."""

from __future__ import annotations

import pathlib


def write(results: dict, path: pathlib.Path) -> None:
    """Writes the summary of a run."""
    machine, figures = results["machine"], results["figures"]
    lines = [
        "# On a GPU",
        "",
        f"{machine['gpu']}, driver {machine['driver']}, PyTorch {machine['torch']}; {machine['processor']}, "
        f"{machine['processors']} threads; "
        f"copying moves {machine['copy_bytes_per_second'] / 1e12:.2f} TB/s. Made by `python3 benchsuite/gpu`.",
        "",
        "| work | gfgcn | others | ratio |",
        "|---|--:|--:|--:|",
    ]
    lines += [f"| {work} | {ours} | {others} | {ratio} |" for work, ours, others, ratio in rows(figures)]
    path.write_text("\n".join(lines) + "\n")


def rows(figures: dict):
    """Work, our time, another's, and how many times ours that is."""
    if product := figures.get("product"):
        rate = product["bytes"] / product["gfgcn"] / 1e12
        work = f"one product, {product['nonzeros'] / 1e6:.0f} M nonzeros, 100 columns ({rate:.2f} TB/s, nothing reused)"
        yield work, *pair(product["gfgcn"], product["torch_csr"], "PyTorch CSR")
    if ridge := figures.get("ridge"):
        work = "PubMed, rows on the GPU to weights, λ given"
        peers = {"torch_primal_double": "PyTorch, double", "torch_primal_single": "PyTorch, single"}
        for key, name in [*peers.items(), ("torch_adam", "Adam, 200 epochs")]:
            yield work, *pair(ridge["gfgcn_given"], ridge[key], name)
        yield "the same, 25 λ with exact leave-one-out", shown(ridge["gfgcn_leave_one_out"]), "–", "–"
    for part, name in {"evaluate": "`evaluate pubmed`, 420 fits", "fit": "fit, 1 M nodes, 25 M edges, SGC K = 8"}.items():
        if both := figures.get(part):
            yield name, *pair(both["cuda"]["seconds"], both["cpu"]["seconds"], "its processor")
            yield f"{name}, from start to end", *pair(both["cuda"]["with_start"], both["cpu"]["with_start"], "its processor")


def pair(ours: float, other: float, name: str):
    """Two times and their ratio."""
    return shown(ours), f"{name} {shown(other)}", f"{other / ours:.1f} ×"


def shown(seconds: float) -> str:
    """A time as people say it."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1e3 * seconds:.2f} ms"

"""Â·X by SciPy: a CSR matrix times an array. SciPy's product runs on one thread."""

from contestant import arguments, serve
from problem import load, norm, normalized

problem = load(arguments("data").data)
operator = normalized(problem.adjacency)

serve(
    lambda: operator @ problem.features,
    lambda result: {"check": {"norm": norm(result)}},
    ["scipy", "numpy"],
    threads=1,
)

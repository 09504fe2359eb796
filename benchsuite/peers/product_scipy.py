"""Â·X by SciPy: a CSR matrix times an array. SciPy's product runs on one thread."""

from contestant import arguments, serve
from problem import load, norm, normalized

options = arguments("data", normalization=str)
problem = load(options.data)
operator = normalized(problem.adjacency, options.normalization)

serve(
    lambda: operator @ problem.features,
    lambda result: {"check": {"norm": norm(result)}},
    ["scipy", "numpy"],
    threads=1,
)

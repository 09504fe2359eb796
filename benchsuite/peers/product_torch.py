"""Â·X by PyTorch: a sparse CSR tensor times a dense one, into memory that is there already."""

import torch
from contestant import THREADS, arguments, serve
from problem import load, norm, normalized

torch.set_num_threads(THREADS)
options = arguments("data", normalization=str)
problem = load(options.data)
matrix = normalized(problem.adjacency, options.normalization)
operator = torch.sparse_csr_tensor(
    torch.from_numpy(matrix.indptr),
    torch.from_numpy(matrix.indices),
    torch.from_numpy(matrix.data),
    size=matrix.shape,
)
features = torch.from_numpy(problem.features)
result = torch.empty_like(features)
del matrix

serve(
    lambda: torch.mm(operator, features, out=result),
    lambda result: {"check": {"norm": norm(result.numpy())}},
    ["torch"],
    threads=torch.get_num_threads(),
)

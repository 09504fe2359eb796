"""Sparse features in PyTorch: dropout on the stored values alone, and a linear map whose way back has
its transposed pattern ready."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from torch.nn import functional


def to_csr_tensor(matrix: sp.csr_array) -> torch.Tensor:
    # MKL takes 32-bit numbers; wider ones would be converted in every product.
    pattern = [torch.from_numpy(part.astype(np.int32)) for part in (matrix.indptr, matrix.indices)]
    return torch.sparse_csr_tensor(*pattern, torch.from_numpy(matrix.data), size=matrix.shape)


def with_values(pattern: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """A matrix with other values in the same places."""
    return torch.sparse_csr_tensor(
        pattern.crow_indices(),
        pattern.col_indices(),
        values,
        size=pattern.shape,
        check_invariants=False,
    )


def transposed_pattern(matrix: sp.csr_array) -> tuple:
    """The transposed matrix, without its values, and where in the matrix they stand."""
    places = sp.csr_array((np.arange(matrix.nnz), matrix.indices, matrix.indptr), shape=matrix.shape)
    places = places.T.tocsr()
    order = torch.from_numpy(places.data)
    places.data = np.zeros(matrix.nnz, dtype=np.float32)
    return to_csr_tensor(places), order


def dropout(x: torch.Tensor, p: float, training: bool) -> torch.Tensor:
    """Dropout of all entries: the zeros that are not stored stay zeros."""
    return with_values(x, functional.dropout(x.values(), p, training))


class SparseLinear(torch.nn.Module):
    """Takes the place of a convolution's own linear map, for features of a known pattern."""

    def __init__(self, linear, features: sp.csr_array):
        super().__init__()
        # Inputs × outputs, the way the product reads it.
        self.weight = torch.nn.Parameter(linear.weight.detach().T.contiguous())
        self.transposed, self.order = transposed_pattern(features)

    def forward(self, x):
        return Product.apply(x, self.weight, self.transposed, self.order)


class Product(torch.autograd.Function):
    """X·W. Left to itself, PyTorch transposes X anew on every way back."""

    @staticmethod
    def forward(context, x, weight, transposed, order):
        context.x, context.transposed, context.order = x, transposed, order
        return torch.sparse.mm(x, weight)

    @staticmethod
    def backward(context, gradient):
        values = context.x.values()[context.order]
        return None, torch.sparse.mm(with_values(context.transposed, values), gradient), None, None

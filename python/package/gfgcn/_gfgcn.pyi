"""The Rust half: arrays in, arrays out."""

from typing import Any, Sequence, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Dataset",
    "Model",
    "__version__",
    "audit",
    "check",
    "command_line",
    "evaluate",
    "explain",
    "filter",
    "fit",
    "forget",
    "influence",
    "edge_columns",
    "is_id_name",
    "search",
    "smoothed_sets",
    "update",
]

__version__: str

_Csr = tuple[NDArray[np.int64], NDArray[np.int32] | NDArray[np.int64], NDArray[np.float32]]
_Predicted = tuple[Any, NDArray[np.float64], list[str]]

def command_line(arguments: list[str]) -> int: ...
def edge_columns(names: list[str]) -> tuple[int, int, int | None, int | None] | None: ...
def is_id_name(name: str) -> bool: ...

@final
class Dataset:
    @staticmethod
    def build(
        edges: list[dict[str, Any]],
        directed: bool,
        features: Any,
        targets: tuple[Any, list[str]],
        feature_names: list[str] | None = None,
        node_ids: list[str] | None = None,
        keep: bool = False,
        threads: int = 0,
        like: Model | None = None,
    ) -> Dataset: ...
    @staticmethod
    def open(
        source: str,
        data_dir: str | None = None,
        directed: bool = False,
        columns: dict[str, list[str]] = ...,
    ) -> Dataset: ...
    def named(
        self, name: str, node_ids: list[str] | None = None, split: list[list[int]] | None = None
    ) -> Dataset: ...
    def save(self, path: str, overwrite: bool, format: str | None = None) -> None: ...
    @staticmethod
    def read_tables(edges: str | None, features: str | None, labels: str | None = None) -> Dataset: ...
    @staticmethod
    def bundled() -> list[str]: ...
    @property
    def name(self) -> str: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def kind(self) -> str: ...
    @property
    def target_names(self) -> list[str]: ...
    @property
    def feature_names(self) -> list[str] | None: ...
    @property
    def node_ids(self) -> list[str] | None: ...
    def targets(self) -> Any: ...
    @property
    def directed(self) -> bool: ...
    @property
    def split(self) -> Sequence[NDArray[np.int64]] | None: ...
    def adjacency(self) -> _Csr: ...
    def relations(self) -> list[tuple[str, _Csr]]: ...
    def features(self) -> Any: ...

@final
class Model:
    def predict(
        self, dataset: Dataset, nodes: NDArray[np.int64] | None = None, threads: int = 0
    ) -> _Predicted: ...
    @property
    def keeps_training(self) -> bool: ...
    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def sets(self, scores: NDArray[np.float64], coverage: float) -> NDArray[np.bool_]: ...
    def intervals(
        self, values: NDArray[np.float64], coverage: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    def save(self, path: Any, overwrite: bool) -> None: ...
    @staticmethod
    def load(path: Any) -> Model: ...
    @property
    def classes(self) -> list[str]: ...
    @property
    def kind(self) -> str: ...
    @property
    def lam(self) -> float | None: ...
    @property
    def selection_score(self) -> float | None: ...
    @property
    def encoded_columns(self) -> list[str] | None: ...
    @property
    def features(self) -> int: ...
    @property
    def feature_names(self) -> list[str] | None: ...
    def params(self) -> dict[str, Any]: ...
    def weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...

def check(design: dict[str, Any] | str) -> None: ...
def fit(
    dataset: Dataset,
    design: dict[str, Any] | str,
    ridge: dict[str, Any],
    objective: dict[str, Any],
    train: tuple[NDArray[np.int64], NDArray[np.float64] | None],
    validation: NDArray[np.int64],
    keep: bool = False,
    threads: int = 0,
) -> tuple[Model, _Predicted]: ...
def update(
    model: Model, dataset: Dataset, targets: tuple[Any, list[str]] | None = None, threads: int = 0
) -> tuple[Model, Dataset, dict[str, Any]]: ...
def forget(
    model: Model,
    dataset: Dataset,
    forgotten: tuple[NDArray[np.int64], bool] | NDArray[np.int64],
    verify: bool = True,
    threads: int = 0,
) -> tuple[tuple[Model, Dataset, dict[str, Any]], str]: ...
def search(
    dataset: Dataset,
    normalization: str,
    fit_intercept: bool,
    objective: dict[str, Any],
    train: tuple[NDArray[np.int64], NDArray[np.float64] | None],
    keep: bool = False,
    threads: int = 0,
) -> tuple[Model, _Predicted, dict[str, Any]]: ...
def smoothed_sets(
    model: Model, dataset: Dataset, coverage: float, share: float, threads: int = 0
) -> NDArray[np.bool_]: ...
def explain(
    model: Model, dataset: Dataset, nodes: NDArray[np.int64], class_: int | None = None, threads: int = 0
) -> dict[str, Any]: ...
def influence(model: Model, dataset: Dataset, threads: int = 0) -> list[tuple[int, float]] | None: ...
def audit(
    dataset: Dataset,
    how: tuple[Any, Any],
    objective: dict[str, Any],
    train: NDArray[np.int64],
    validation: NDArray[np.int64],
    threads: int = 0,
) -> tuple[list[tuple[Any, ...]], list[str]]: ...
def filter(dataset: Dataset, design: dict[str, Any] | str, threads: int = 0) -> NDArray[np.float32]: ...
def evaluate(
    dataset: Dataset,
    designs: Sequence[dict[str, Any] | str | None],
    normalization: str,
    ridge: dict[str, Any],
    objective: dict[str, Any],
    random: tuple[int, str, int],
    given: list[NDArray[np.int64]] | None,
    largest_component: bool,
    calibrates: bool,
    threads: int = 0,
) -> list[dict[str, Any]]: ...

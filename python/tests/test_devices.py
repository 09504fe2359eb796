"""Where work runs, on machines without a GPU too; what is on one is checked by test_gpu.py."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import gfgcn
from gfgcn import GradientFreeClassifier, GradientFreeRegressor, GraphFilter, devices, evaluate, tune
from gfgcn._gfgcn import Dataset, Graph

NO_GPU = next((row["problem"] for row in devices() if row["device"] == "cuda"), None)
without_gpu = pytest.mark.skipif(NO_GPU is None, reason="this machine has a GPU")


def test_the_processor_is_always_listed_and_it_is_said_why_there_is_no_gpu():
    first, *others = devices()
    assert first["device"] == "cpu" and first["problem"] is None and "threads" in first["name"]
    assert others and all(row["device"].startswith("cuda") for row in others)
    assert all(row["problem"] or row["total_bytes"] for row in others)
    assert "problem" in repr(devices())


@pytest.mark.parametrize("kind", [GradientFreeClassifier, GradientFreeRegressor, GraphFilter])
def test_the_device_is_a_parameter_like_others(kind):
    model = kind(device="cpu")
    assert model.get_params()["device"] == "cpu" and kind().get_params()["device"] is None
    assert "device='cpu'" in repr(model)


def test_what_is_no_device_is_refused_when_it_is_used(small):
    X, y, adjacency = small
    calls = {
        "fit": lambda device: GradientFreeClassifier(depth=2, device=device).fit(X, y, adjacency),
        "filter": lambda device: GraphFilter(device=device).fit_transform(X, adjacency=adjacency),
        "tune": lambda device: tune(X, y, adjacency, device=device),
        "evaluate": lambda device: evaluate(X, y, adjacency, splits=1, depths=[2], device=device),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match="auto, cpu, cuda or cuda:N"):
            call("gpu")
        with pytest.raises(TypeError, match="device is 0"):
            call(0)


def test_the_variable_counts_where_nothing_is_said(small, monkeypatch):
    X, y, adjacency = small
    monkeypatch.setenv("GFGCN_DEVICE", "nonsense")
    with pytest.raises(ValueError, match="nonsense"):
        GradientFreeClassifier(depth=2).fit(X, y, adjacency)
    GradientFreeClassifier(depth=2, device="cpu").fit(X, y, adjacency)


@without_gpu
def test_a_gpu_that_was_asked_for_must_be_there(small):
    X, y, adjacency = small
    for device in ("cuda", "cuda:3"):
        with pytest.raises(RuntimeError, match="cuda"):
            GradientFreeClassifier(depth=2, device=device).fit(X, y, adjacency)
    same = GradientFreeClassifier(depth=2, device="auto").fit(X, y, adjacency).decision_function()
    assert (same == GradientFreeClassifier(depth=2, device="cpu").fit(X, y, adjacency).decision_function()).all()


def test_a_model_that_keeps_its_training_is_for_the_processor(small):
    X, y, adjacency = small
    model = GradientFreeClassifier(depth=2, keep_training=True, device="cuda")
    with pytest.raises((ValueError, RuntimeError), match="cuda"):
        model.fit(X, y, adjacency)


class Elsewhere:
    """An array as CuPy's, on a GPU that is not there."""

    def __init__(self, values):
        self.values = values
        self.dtype, self.shape = values.dtype, values.shape

    def __len__(self):
        return len(self.values)

    def __dlpack_device__(self):
        return (2, 0)

    def astype(self, dtype):
        return Elsewhere(self.values.astype(dtype))

    def get(self):
        return self.values


@without_gpu
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_an_array_whose_gpu_cannot_be_used_is_copied_where_nobody_asked_for_it(small, dtype):
    X, y, adjacency = small
    X = (10 * X).astype(dtype)
    expected = GradientFreeClassifier(depth=2).fit(X, y, adjacency).decision_function()
    there = Elsewhere(X)
    with pytest.warns(UserWarning, match="copied to main memory"):
        found = GradientFreeClassifier(depth=2).fit(there, Elsewhere(y), adjacency).decision_function()
    assert (found == expected).all()
    found = GradientFreeClassifier(depth=2, device="cpu").fit(there, y, adjacency).decision_function()
    assert (found == expected).all()
    filtered = GraphFilter(device="cpu").fit_transform(there, adjacency=adjacency)
    assert isinstance(filtered, np.ndarray)


def test_arrays_on_a_gpu_are_refused_by_what_is_wrong_with_them(small):
    _, y, adjacency = small
    for wrong, message in [
        (Elsewhere(np.zeros(20, np.float32)), "Expected 2D array"),
        (Elsewhere(np.zeros((20, 0), np.float32)), "0 feature"),
        (Elsewhere(np.zeros((20, 2), np.complex64)), "Complex"),
    ]:
        with pytest.raises(ValueError, match=message):
            GradientFreeClassifier(depth=2).fit(wrong, y, adjacency)


# What DLPack hands over, byte by byte: an independent reading of its header.
class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    pass


Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", Deleter)]


class Capsule:
    """A capsule of DLPack's, and how often its contents were given back."""

    def __init__(self, shape=(3, 2), strides=None, device=2, code=2, bits=32):
        self.freed = 0
        self._shape = (ctypes.c_int64 * len(shape))(*shape)
        self._strides = None if strides is None else (ctypes.c_int64 * len(strides))(*strides)
        self._deleter = Deleter(self._free)
        tensor = Tensor(
            0x1000, device, 0, len(shape), code, bits, 1,
            ctypes.cast(self._shape, ctypes.POINTER(ctypes.c_int64)),
            None if self._strides is None else ctypes.cast(self._strides, ctypes.POINTER(ctypes.c_int64)),
            0,
        )  # fmt: skip
        self._managed = Managed(tensor, None, self._deleter)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.capsule = new(ctypes.addressof(self._managed), b"dltensor", None)

    def _free(self, _):
        self.freed += 1

    @property
    def name(self):
        get = ctypes.pythonapi.PyCapsule_GetName
        get.restype, get.argtypes = ctypes.c_char_p, [ctypes.py_object]
        return get(self.capsule)


def build(capsule):
    return Dataset.build(Graph.build([], False, 3), capsule, (np.full(3, -1), []))


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"device": 1}, "type 1, not on an NVIDIA GPU"),
        ({"bits": 64}, "no float32"),
        ({"code": 0}, "no float32"),
        ({"shape": (6,)}, "Expected 2D array, got 1D"),
        ({"strides": (1, 3)}, "not C-contiguous"),
        ({"shape": (-1, 2)}, "shape"),
    ],
)
def test_a_tensor_that_is_refused_stays_with_its_owner(wrong, message):
    given = Capsule(**wrong)
    with pytest.raises(ValueError, match=message):
        build(given.capsule)
    assert (given.name, given.freed) == (b"dltensor", 0)


@without_gpu
@pytest.mark.parametrize("strides", [None, (2, 1)])
def test_a_tensor_that_is_taken_is_given_back_once_even_if_it_cannot_be_used(strides):
    given = Capsule(strides=strides)
    with pytest.raises(RuntimeError, match="cuda"):
        build(given.capsule)
    assert (given.name, given.freed) == (b"used_dltensor", 1)
    with pytest.raises(ValueError, match="used already"):
        build(given.capsule)
    assert given.freed == 1


def test_everything_that_computes_has_the_parameter():
    import inspect

    for what in (GradientFreeClassifier, GradientFreeRegressor, GraphFilter, gfgcn.tune, gfgcn.evaluate):
        assert inspect.signature(what).parameters["device"].default is None

"""On a GPU: device= and arrays that are there already, against the processor. Skipped, with the reason, where there is none.

    python3 -m pytest --noconftest -s python/tests/test_gpu.py

needs PyTorch with CUDA, and CuPy for the tests with its arrays; nothing else but NumPy.
"""

from __future__ import annotations

import gc
import os
import sys

import numpy as np
import pytest

from gfgcn import GradientFreeClassifier, GradientFreeRegressor, GraphFilter, devices, evaluate, tune
from gfgcn._gfgcn import Dataset

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
GPUS = [row for row in devices() if row["device"].startswith("cuda") and row["problem"] is None]
WHY = next((row["problem"] for row in devices() if row["device"].startswith("cuda")), "no GPU")
pytestmark = pytest.mark.skipif(not GPUS or not torch.cuda.is_available(), reason=f"no GPU: {WHY}")


class Data:
    """A built-in dataset as plain arrays: SciPy is not needed."""

    def __init__(self, name):
        data = Dataset.open(name)
        offsets, columns, _ = data.adjacency()
        sources = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        self.edges = np.stack([sources, columns.astype(np.int64)])
        (offsets, columns, values), width = data.features()
        self.X = np.zeros((len(offsets) - 1, width), np.float32)
        self.X[np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), columns] = values
        self.y = data.targets()
        self.train = data.split[0]
        self.y_train = np.full_like(self.y, -1)
        self.y_train[self.train] = self.y[self.train]


@pytest.fixture(scope="module", params=["cora", "pubmed"])
def data(request):
    return Data(request.param)


def near(found, expected, tolerance=1e-4):
    off = np.abs(found - expected).max() / np.abs(expected).max()
    print(f"off by {off:.1e} of the largest")
    return off < tolerance


def alike(found, expected, nodes):
    other = int((np.asarray(found) != np.asarray(expected)).sum())
    print(f"{other} of {nodes} labels differ")
    return other <= max(2, 2e-3 * nodes)


def test_a_model_of_the_gpu_says_what_one_of_the_processor_does(data):
    def fit(**options):
        return GradientFreeClassifier("sgc", depth=4, **options).fit(data.X, data.y_train, data.edges)

    here, there = fit(device="cpu"), fit(device="cuda")
    assert near(there.decision_function(), here.decision_function())
    assert alike(there.predict(), here.predict(), len(data.y))
    again = fit(device="cuda").decision_function()
    assert (again == there.decision_function()).all(), "the same bits every time"
    assert near(there.predict_proba(data.X, data.edges), here.predict_proba(data.X, data.edges), 1e-3)


def test_features_on_the_gpu_are_used_there(data):
    on_gpu = torch.from_numpy(data.X).cuda()
    edges, labels = torch.from_numpy(data.edges).cuda(), torch.from_numpy(data.y_train).cuda()
    model = GradientFreeClassifier("ssgc", depth=8)
    here = GradientFreeClassifier("ssgc", depth=8, device="cpu").fit(data.X, data.y_train, data.edges)
    there = model.fit(on_gpu, labels, edges)
    assert near(there.decision_function(), here.decision_function())
    same = GradientFreeClassifier("ssgc", depth=8, device="cuda").fit(data.X, data.y_train, data.edges)
    assert (same.decision_function() == there.decision_function()).all(), "wherever X was"
    fresh = there.predict(on_gpu, edges)
    assert alike(fresh, here.predict(), len(data.y))
    # A model knows its data by the same fingerprint.
    assert there._model.to_bytes() == same._model.to_bytes()
    assert (on_gpu.cpu().numpy() == data.X).all(), "nothing was written to them"


def test_a_filtered_tensor_stays_on_the_gpu(data):
    on_gpu = torch.from_numpy(data.X).cuda()
    expected = GraphFilter("sgc", depth=3, adjacency=data.edges, device="cpu").fit_transform(data.X)
    found = GraphFilter("sgc", depth=3, adjacency=data.edges).fit_transform(on_gpu)
    assert isinstance(found, torch.Tensor) and found.is_cuda and found.dtype == torch.float32
    assert tuple(found.shape) == data.X.shape
    assert near(found.cpu().numpy(), expected, 1e-6)
    before = found.clone()
    found.mul_(2.0)  # it is the caller's
    assert torch.equal(found, 2 * before)
    # On the processor, where that was asked for, and as NumPy's.
    assert isinstance(GraphFilter("sgc", device="cpu", adjacency=data.edges).fit_transform(on_gpu), np.ndarray)


def test_results_are_complete_for_whatever_stream_goes_on_with_them(data):
    graph_filter = GraphFilter("sgc", depth=3, adjacency=data.edges)
    expected = graph_filter.fit_transform(torch.from_numpy(data.X).cuda()).double().sum().item()
    stream = torch.cuda.Stream()
    for _ in range(10):
        with torch.cuda.stream(stream):
            # Still being computed when it is handed over.
            late = torch.zeros(data.X.shape, device="cuda")
            torch.cuda._sleep(20_000_000)
            late.copy_(torch.from_numpy(data.X).cuda())
            found = graph_filter.fit_transform(late).double().sum().item()
        assert found == expected


@pytest.mark.parametrize("kind", ["float64", "float16", "bfloat16", "int64", "bool"])
def test_other_types_are_converted_there(kind):
    data = Data("cora")
    tensor = torch.from_numpy(data.X).cuda().to(getattr(torch, kind))
    expected = GraphFilter("sgc", depth=2, adjacency=data.edges, device="cpu").fit_transform(tensor.float().cpu().numpy())
    found = GraphFilter("sgc", depth=2, adjacency=data.edges).fit_transform(tensor)
    assert found.is_cuda and near(found.cpu().numpy(), expected, 1e-6)


def test_views_and_gradients_make_no_difference():
    data = Data("cora")
    expected = GraphFilter("sgc", depth=2, adjacency=data.edges).fit_transform(torch.from_numpy(data.X).cuda())
    by_columns = torch.from_numpy(np.asfortranarray(data.X)).cuda().T.contiguous().T
    wide = torch.zeros(data.X.shape[0], 2 * data.X.shape[1], device="cuda")
    wide[:, ::2] = torch.from_numpy(data.X).cuda()
    offset = torch.zeros(data.X.size + 7, device="cuda")
    offset[7:] = torch.from_numpy(data.X).cuda().flatten()
    learnt = torch.from_numpy(data.X).cuda().requires_grad_()
    for given in (by_columns, wide[:, ::2], offset[7:].view(*data.X.shape), learnt):
        found = GraphFilter("sgc", depth=2, adjacency=data.edges).fit_transform(given)
        assert torch.equal(found, expected) and not found.requires_grad


def test_what_is_not_finite_is_refused_with_its_place():
    data = Data("cora")
    for value in (float("nan"), float("inf"), -float("inf")):
        wrong = torch.from_numpy(data.X).cuda()
        wrong[1000, 17] = wrong[2000, 3] = value
        with pytest.raises(ValueError, match="row 1000, column 17"):
            GradientFreeClassifier("sgc", depth=2).fit(wrong, data.y_train, data.edges)
    huge = torch.full(data.X.shape, 1e300, dtype=torch.float64, device="cuda")
    with pytest.raises(ValueError, match="row 0, column 0"):
        GradientFreeClassifier("sgc", depth=2).fit(huge, data.y_train, data.edges)


def test_tensors_are_given_back_and_results_are_freed():
    data = Data("pubmed")
    graph_filter = GraphFilter("sgc", depth=2, adjacency=data.edges)
    tensor = torch.from_numpy(data.X).cuda()
    references = sys.getrefcount(tensor)
    graph_filter.fit_transform(tensor)
    torch.cuda.synchronize()
    free = []
    for _ in range(20):
        found = graph_filter.fit_transform(tensor)
        del found
        gc.collect()
        free.append(torch.cuda.mem_get_info()[0])
    assert sys.getrefcount(tensor) == references
    print("free GiB:", [round(value / 2**30, 2) for value in free])
    assert min(free[5:]) >= free[2] - (64 << 20), "nothing is left behind"
    # A result outlives what it was made by, and its capsule.
    found = GraphFilter("sgc", depth=2, adjacency=data.edges).fit_transform(tensor)
    expected = found.clone()
    graph_filter.fit_transform(2 * tensor)
    assert torch.equal(found, expected)


def test_a_search_and_an_evaluation_run_there():
    data = Data("cora")
    on_gpu = torch.from_numpy(data.X).cuda()
    here, there = (tune(x, data.y_train, data.edges, device=d) for x, d in ((data.X, "cpu"), (on_gpu, None)))
    assert alike(there.model.predict(), here.model.predict(), len(data.y))
    rows = [evaluate(x, data.y, data.edges, depths=[2, 8], splits=3, device=d) for x, d in ((data.X, "cpu"), (on_gpu, None))]
    for found, expected in zip(rows[1], rows[0]):
        print(found["model"], found["depth"], found["accuracy"], expected["accuracy"])
        assert abs(found["accuracy"] - expected["accuracy"]) < 0.15


def test_values_and_kernels_and_kept_training():
    data = Data("cora")
    on_gpu = torch.from_numpy(data.X).cuda()
    values = np.where(data.y_train >= 0, data.y_train.astype(float), np.nan)
    here, there = (GradientFreeRegressor("sgc", depth=2, device=d).fit(x, values, data.edges).predict() for x, d in
                   ((data.X, "cpu"), (on_gpu, None)))  # fmt: skip
    assert near(there, here)
    here, there = (GradientFreeClassifier("sgc", depth=2, kernel="rbf", device=d).fit(x, data.y_train, data.edges) for x, d in
                   ((data.X, "cpu"), (on_gpu, None)))  # fmt: skip
    assert near(there.decision_function(), here.decision_function())
    kept = GradientFreeClassifier("sgc", depth=2, keep_training=True).fit(on_gpu, data.y_train, data.edges)
    on_gpu.zero_()  # what is kept does not change
    assert alike(kept.partial_fit(y={0: int(data.y[0])}).predict(), GradientFreeClassifier("sgc", depth=2).fit(
        data.X, np.where(np.arange(len(data.y)) == 0, data.y, data.y_train), data.edges).predict(), len(data.y))  # fmt: skip


def test_a_number_that_is_not_there_is_named():
    data = Data("cora")
    with pytest.raises(RuntimeError, match="cuda:99: it is not there"):
        GradientFreeClassifier("sgc", depth=2, device="cuda:99").fit(data.X, data.y_train, data.edges)


def test_a_forked_process_is_told_so():
    data = Data("cora")
    GradientFreeClassifier("sgc", depth=2, device="cuda").fit(data.X, data.y_train, data.edges)
    child = os.fork()
    if child == 0:
        try:
            GradientFreeClassifier("sgc", depth=2, device="cuda").fit(data.X, data.y_train, data.edges)
        except RuntimeError as error:
            os._exit(0 if "spawn" in str(error) else 2)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_gpu_that_is_full_is_an_error_or_a_warning():
    data = Data("pubmed")
    GradientFreeClassifier("sgc", depth=2, device="cuda").fit(data.X, data.y_train, data.edges)  # it is open
    taken = []
    for size in (1 << 30, 1 << 26, 1 << 23):
        try:
            while True:
                taken.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
        except torch.OutOfMemoryError:
            pass
    try:
        with pytest.raises(RuntimeError, match="memory is full|cuBLAS"):
            GradientFreeClassifier("sgc", depth=64, device="cuda").fit(data.X, data.y_train, data.edges)
    finally:
        del taken
        torch.cuda.empty_cache()
    GradientFreeClassifier("sgc", depth=2, device="cuda").fit(data.X, data.y_train, data.edges)


def test_arrays_of_cupy():
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    data = Data("cora")
    found = GraphFilter("sgc", depth=3, adjacency=cupy.asarray(data.edges)).fit_transform(cupy.asarray(data.X))
    assert isinstance(found, cupy.ndarray)
    expected = GraphFilter("sgc", depth=3, adjacency=data.edges, device="cpu").fit_transform(data.X)
    assert near(found.get(), expected, 1e-6)
    model = GradientFreeClassifier("sgc", depth=3).fit(cupy.asarray(data.X, order="F"), cupy.asarray(data.y_train), data.edges)
    same = GradientFreeClassifier("sgc", depth=3, device="cuda").fit(data.X, data.y_train, data.edges)
    assert (model.decision_function() == same.decision_function()).all()

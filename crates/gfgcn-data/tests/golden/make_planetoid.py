#!/usr/bin/env python3
"""Writes the golden Planetoid folder beside this script, and the seeds of the fuzz target.

One tiny graph of 12 nodes, once per way in which such files have been pickled. What a reader has
to make of every one of them is written out in ../planetoid.rs. The last run used Python 3.11,
NumPy 2.4 and SciPy 1.17; other versions spell module names differently, which is worth keeping.
"""

import pickle
import struct
from collections import defaultdict
from pathlib import Path

import numpy as np
import scipy.sparse as sp

HERE = Path(__file__).resolve().parent
GOLDEN = HERE / "planetoid"
SEEDS = HERE.parents[3] / "fuzz" / "corpus" / "planetoid"
PARTS = ["x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"]

# Node 9 is missing from test.index, so it is in the graph only.
TEST_INDEX = [10, 7, 11, 8]
FEATURES = {
    0: [1, 0, 0, 0, 0.5],
    1: [0, 1, 0, 0, 0],
    2: [0, 0, 1, 0, 0],
    3: [1, 1, 0, 0, 0],
    4: [0, 0, 0, 0, 0],
    5: [0, 0.25, 0, 2, 0],
    6: [0, 0, 0, 0, -1.5],
    7: [0, 0, 3, 0, 0],
    8: [1, 0, 0, 1, 0],
    10: [0, 0, 0, 0, 1],
    11: [0, 2, 0, 0, 0],
}
# Node 4 has a row of zeros.
CLASSES = {0: 0, 1: 1, 2: 2, 3: 0, 4: None, 5: 1, 6: 2, 7: 0, 8: 1, 10: 2, 11: 1}
# An entry twice (1: 2), a self-loop (3) and an edge in one direction only (6 to 7).
GRAPH = {
    0: [1, 3], 1: [0, 2, 2], 2: [1], 3: [0, 3], 4: [5, 9], 5: [4],
    6: [7], 7: [], 8: [10, 11], 9: [4], 10: [8], 11: [8],
}


class Python2:
    """Pickles as Python 2 did with protocol 2: every string is raw bytes, old module names."""

    @classmethod
    def dumps(cls, value):
        return b"\x80\x02" + cls.encode(value) + b"."

    @classmethod
    def encode(cls, value):
        if value is None:
            return b"N"
        if isinstance(value, bool):
            return b"\x88" if value else b"\x89"
        if isinstance(value, int):
            if 0 <= value < 256:
                return b"K" + struct.pack("<B", value)
            return b"J" + struct.pack("<i", value)
        if isinstance(value, (bytes, str)):
            raw = value.encode("ascii") if isinstance(value, str) else value
            if len(raw) < 256:
                return b"U" + struct.pack("<B", len(raw)) + raw
            return b"T" + struct.pack("<i", len(raw)) + raw
        if isinstance(value, tuple):
            return b"(" + b"".join(map(cls.encode, value)) + b"t"
        if isinstance(value, list):
            return b"](" + b"".join(map(cls.encode, value)) + b"e"
        if isinstance(value, defaultdict):
            return b"ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R" + cls.items(value)
        if isinstance(value, dict):
            return b"}" + cls.items(value)
        if isinstance(value, np.ndarray):
            made = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85U\x01btR"
            state = (1, value.shape, value.dtype, False, value.tobytes())
            return made + cls.encode(state) + b"b"
        if isinstance(value, np.dtype):
            made = b"cnumpy\ndtype\n" + cls.encode((value.str[1:], 0, 1)) + b"R"
            return made + cls.encode((3, value.str[0], None, None, None, -1, -1, 0)) + b"b"
        if isinstance(value, sp.csr_matrix):
            state = {
                "format": "csr", "_shape": value.shape, "indptr": value.indptr,
                "_cs_matrix__has_sorted_indices": True, "indices": value.indices,
                "data": value.data, "maxprint": 50,
            }
            return b"cscipy.sparse.csr\ncsr_matrix\n)\x81" + cls.encode(state) + b"b"
        raise TypeError(type(value))

    @classmethod
    def items(cls, value):
        flat = (cls.encode(part) for pair in value.items() for part in pair)
        return b"(" + b"".join(flat) + b"u"


def protocol(number):
    return lambda value: pickle.dumps(value, protocol=number)


def dense(nodes, dtype):
    return np.array([FEATURES[n] for n in nodes], dtype=dtype)


def sparse(nodes, dtype):
    return sp.csr_matrix(dense(nodes, dtype))


def one_hot(nodes, dtype, order="C"):
    labels = np.zeros((len(nodes), 3), dtype=dtype, order=order)
    for row, node in enumerate(nodes):
        if CLASSES[node] is not None:
            labels[row, CLASSES[node]] = 1
    return labels


def python_graph():
    return defaultdict(list, {node: list(row) for node, row in GRAPH.items()})


def numpy_graph():
    return {np.int32(node): [np.int64(to) for to in row] for node, row in GRAPH.items()}


VARIANTS = {
    "python2": (
        Python2.dumps, lambda n: sparse(n, "<f4"), lambda n: one_hot(n, "<i4"), python_graph,
    ),
    "protocol0": (
        protocol(0), lambda n: sparse(n, "<f4"), lambda n: one_hot(n, "<i8"), python_graph,
    ),
    "protocol2": (
        protocol(2), lambda n: sparse(n, "<f8"), lambda n: one_hot(n, "i1"), python_graph,
    ),
    "protocol4": (
        protocol(4), lambda n: sparse(n, "<f4"), lambda n: one_hot(n, ">i2", "F"), numpy_graph,
    ),
    "protocol5": (
        protocol(5), lambda n: np.asfortranarray(dense(n, "<f8")), lambda n: one_hot(n, "?"),
        lambda: GRAPH,
    ),
}


def files(dumps, features, labels, graph):
    known, training = range(7), range(3)
    return {
        "x": dumps(features(training)), "y": dumps(labels(training)),
        "tx": dumps(features(TEST_INDEX)), "ty": dumps(labels(TEST_INDEX)),
        "allx": dumps(features(known)), "ally": dumps(labels(known)),
        "graph": dumps(graph()),
        "test.index": "".join(f"{node}\n" for node in TEST_INDEX).encode(),
    }


def seed(name, contents):
    """All files in one, each after its length in two bytes, as the fuzz target takes them."""
    joined = b"".join(struct.pack("<H", len(contents[p])) + contents[p] for p in PARTS)
    (SEEDS / name).write_bytes(joined)


def main():
    GOLDEN.mkdir(exist_ok=True)
    SEEDS.mkdir(parents=True, exist_ok=True)
    for name, variant in VARIANTS.items():
        contents = files(*variant)
        for part, content in contents.items():
            (GOLDEN / f"ind.{name}.{part}").write_bytes(content)
        seed(name, contents)
    hostile = {
        "hostile-call": b"cos\nsystem\n(S'true'\ntR.",
        "hostile-laughs": b"]q\x00" + b"(h\x00h\x00lq\x00" * 40 + b".",
        "hostile-cycle": b"]q\x00h\x00a.",
        "hostile-length": b"\x8e" + b"\xff" * 8 + b".",
        "hostile-shared": b"}(K\x00](" + b"K\x00" * 50 + b"eq\x00"
        + b"".join(b"K%ch\x00" % node for node in range(1, 12)) + b"u.",
    }
    for name, graph in hostile.items():
        seed(name, files(*VARIANTS["protocol5"]) | {"graph": graph})


if __name__ == "__main__":
    main()

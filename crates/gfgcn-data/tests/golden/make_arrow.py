"""Writes the Arrow files under `arrow` with pyarrow, pandas and Polars.

Every folder holds the dataset `SMALL` of `tests/tables/main.rs` as another program would
write it: files and streams, other types, codecs, dictionaries, nulls, an index. Run it here: python make_arrow.py
"""

from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
from small import IDS, LABELS, SOURCE, SPLIT, TARGET, WEIGHT, X, Y

HERE = Path(__file__).parent / "arrow"


def folder(name):
    path = HERE / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def tables(text=pa.string(), number=pa.float32()):
    """The tables of the dataset, with columns of these types."""
    strings = lambda values: pa.array(values, pa.string()).cast(text)
    numbers = lambda values: pa.array(values, pa.float32()).cast(number)
    return {
        "edges": pa.table({"source": strings(SOURCE), "target": strings(TARGET), "weight": numbers(WEIGHT)}),
        "features": pa.table({"id": strings(IDS), "x": numbers(X), "y": numbers(Y)}),
        "labels": pa.table({"id": strings(IDS), "label": strings(LABELS)}),
        "split": pa.table({"id": strings(list(SPLIT)), "split": strings(list(SPLIT.values()))}),
    }


def file(name, parts=None, rows=None, extension="arrow", opener=pa.ipc.new_file, **options):
    """Files, or streams, with batches of so many rows."""
    for table, content in (parts or tables()).items():
        with opener(folder(name) / f"{table}.{extension}", content.schema, options=pa.ipc.IpcWriteOptions(**options)) as out:
            out.write_table(content, max_chunksize=rows)


def feather(name):
    """Feather, version 2, compressed as pandas does it."""
    for table, content in tables().items():
        content.to_pandas().to_feather(folder(name) / f"{table}.feather")


def pandas_index(name):
    """Frames whose ids are the index, which pandas stores last; left-over row numbers."""
    frames = {table: content.to_pandas() for table, content in tables().items()}
    edges = frames.pop("edges").iloc[::-1]
    frames = {"edges": edges, **{table: frame.set_index("id") for table, frame in frames.items()}}
    for table, frame in frames.items():
        pa.feather.write_feather(pa.Table.from_pandas(frame), str(folder(name) / f"{table}.feather"))


def polars(name, compression):
    """Frames of Polars, whose texts are views, and a category."""
    for table, content in tables().items():
        frame = pl.from_arrow(content)
        if table == "labels":
            frame = frame.with_columns(pl.col("label").cast(pl.Categorical))
        frame.write_ipc(folder(name) / f"{table}.arrow", compression=compression)


def long(name):
    """Texts that are longer than a view holds, among some that are not, and a null."""
    ids = ["short", "a text of more than twelve bytes", "another text of more than twelve bytes"]
    features = pl.DataFrame({"id": ids, "word": ["a word that is quite long", None, "b"]})
    pl.DataFrame({"source": ids[:2], "target": ids[1:]}).write_ipc(folder(name) / "edges.arrow")
    features.write_ipc(folder(name) / "features.arrow")


def integers(name):
    """Numbers of every width, truth values, halves, a column of nothing but nulls."""
    path = folder(name)
    numbers = {node: 10 + k for k, node in enumerate(IDS)}
    ends = lambda nodes, kind: pa.array([numbers[node] for node in nodes], kind)
    parts = {
        "edges": pa.table({"u": ends(SOURCE, pa.uint64()), "v": ends(TARGET, pa.int16())}),
        "features": pa.table({
            "node": ends(IDS, pa.uint32()),
            "flag": pa.array([True, False, None, True, False]),
            "count": pa.array([1, 2, -3, 400, 0], pa.int64()),
            "half": pa.array([0.5, -2.0, 65504.0, 0.0, 1.0], pa.float32()).cast(pa.float16()),
            "level": pa.array([3, 3, 5, 3, 5], pa.int16()).dictionary_encode(),
            "nothing": pa.nulls(5),
        }),
        "labels": pa.table({"node": ends(IDS, pa.int8()), "class": pa.array([1.0, 0.0, float("nan"), None, -1.0])}),
    }
    file(name, parts)
    return path


def others(name):
    """Columns that no cell has among those that are meant, and those that are refused where they are asked for."""
    path = folder(name)
    ids = pa.array(["a", "b"])
    columns = {
        "list": pa.array([[1.0], [2.0, 3.0]]),
        "struct": pa.array([{"left": 1, "right": "x"}, {"left": 2, "right": "y"}]),
        "map": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int8())),
        "fixed": pa.array([[1, 2], [3, 4]], pa.list_(pa.int32(), 2)),
        "union": pa.UnionArray.from_dense(
            pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([1]), pa.array(["z"])]
        ),
        "timestamp": pa.array([0, 1], pa.timestamp("ms")),
        "date": pa.array([0, 1], pa.date32()),
        "decimal": pa.array([1, 2], pa.int32()).cast(pa.decimal128(12, 2)),
        "bytes": pa.array([b"ab", b"cd"], pa.binary(2)),
        "run": pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array([1.5])),
        "view": pa.array([[1], [2]], pa.list_view(pa.int8())),
    }
    file(name, {"features": pa.table({"id": ids, **columns, "x": pa.array([1.5, 2.5])})})
    for kind, column in {**columns, "binary": pa.array([b"\xff", b"a"])}.items():
        file(f"{name}/{kind}", {"features": pa.table({"id": ids, "wrong": column})})
    return path


def refused(name):
    """Files that are refused as a whole."""
    path = folder(name)
    one = pa.table({"id": pa.array(["a"]).dictionary_encode(), "x": pa.array([1.0])})
    two = pa.table({"id": pa.array(["a", "b"]).dictionary_encode(), "x": pa.array([1.0, 2.0])})
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    with pa.ipc.new_stream(path / "delta.arrows", one.schema, options=options) as out:
        out.write_table(one)
        out.write_table(two)
    text = ["a" * (2 << 20)]
    wide = pa.table({"id": pa.array(["a"]), **{f"x{k}": pa.array(text) for k in range(200)}})
    file(f"{name}/wide", {"features": wide}, compression="zstd")
    edge = pa.table({"source": pa.nulls(40_000_000), "target": pa.nulls(40_000_000)})
    file(f"{name}/repeated", {"edges": edge})
    pd.DataFrame({"id": ["a"], "x": [1.0]}).to_feather(path / "one.feather", version=1)


file("file")
file("batches", rows=2)
file("stream", extension="arrows", opener=pa.ipc.new_stream, rows=2)
file("legacy", extension="ipc", opener=pa.ipc.new_stream, use_legacy_format=True)
file("lz4", compression="lz4")
file("zstd", compression="zstd", rows=3)
file("dictionary", tables(pa.dictionary(pa.int8(), pa.string())))
file("replaced", tables(pa.dictionary(pa.uint16(), pa.large_string())), extension="arrows", opener=pa.ipc.new_stream)
file("wide", tables(pa.large_string(), pa.float64()))
file("views", tables(pa.string_view()))
feather("feather")
pandas_index("pandas")
polars("polars", "uncompressed")
polars("polars_zstd", "zstd")
long("long")
integers("integers")
others("others")
refused("refused")

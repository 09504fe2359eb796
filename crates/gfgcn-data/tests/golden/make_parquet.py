"""Writes the Parquet files under `parquet` with pyarrow, pandas and Polars.

Every folder holds the dataset `SMALL` of `tests/tables/main.rs` as another program would
write it: other types, codecs, page versions, nulls, an index. Run it here: python make_parquet.py
"""

import random
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from small import IDS, LABELS, SOURCE, SPLIT, TARGET, WEIGHT, X, Y

HERE = Path(__file__).parent / "parquet"


def folder(name):
    path = HERE / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def strings(ids, kind=pa.string()):
    return pa.array(ids, kind)


def plain(name, **options):
    """Typed columns, written with the given options."""
    path = folder(name)
    edges = {"source": strings(SOURCE), "target": strings(TARGET), "weight": pa.array(WEIGHT, pa.float32())}
    features = {"id": strings(IDS), "x": pa.array(X, pa.float32()), "y": pa.array(Y, pa.float32())}
    labels = {"id": strings(IDS), "label": strings(LABELS)}
    split = {"id": strings(list(SPLIT)), "split": strings(list(SPLIT.values()))}
    tables = {"edges": edges, "features": features, "labels": labels, "split": split}
    for table, columns in tables.items():
        pq.write_table(pa.table(columns), path / f"{table}.parquet", **options)


def dictionary(name):
    """Categories, large strings, small row groups, doubles that are exact as floats."""
    path = folder(name)
    category = pa.dictionary(pa.int8(), pa.string())
    edges = pa.table({"src": strings(SOURCE).cast(category), "dst": strings(TARGET, pa.large_string()),
                      "weight": pa.array(WEIGHT, pa.float64())})
    single = lambda values: pa.array(values, pa.float32()).cast(pa.float64())
    features = pa.table({"id": strings(IDS).cast(category), "x": single(X), "y": single(Y)})
    labels = pa.table({"id": strings(IDS), "label": strings(LABELS).cast(category)})
    split = pa.table({"id": strings(list(SPLIT)), "split": strings(list(SPLIT.values())).cast(category)})
    for table, content in {"edges": edges, "features": features, "labels": labels, "split": split}.items():
        pq.write_table(content, path / f"{table}.parquet", row_group_size=2)


def polars(name):
    """Frames of Polars, which compresses with Zstandard unless it is told not to."""
    path = folder(name)
    single = lambda values: pl.Series(values, dtype=pl.Float32)
    frames = {
        "edges": {"source": SOURCE, "target": TARGET, "weight": single(WEIGHT)},
        "features": {"id": IDS, "x": single(X), "y": single(Y)},
        "labels": {"id": IDS, "label": LABELS},
        "split": {"id": list(SPLIT), "split": list(SPLIT.values())},
    }
    for table, columns in frames.items():
        pl.DataFrame(columns).write_parquet(path / f"{table}.parquet")


def pandas(name):
    """Frames whose ids are the index, which pandas stores last; left-over row numbers."""
    path = folder(name)
    edges = pd.DataFrame({"source": SOURCE + ["x"], "target": TARGET + ["x"], "weight": WEIGHT + [1.0]})
    edges[edges.source != "x"].iloc[::-1].to_parquet(path / "edges.parquet")
    features = pd.DataFrame({"x": X, "y": Y}, dtype="float32", index=pd.Index(IDS, name="id"))
    features.to_parquet(path / "features.parquet")
    labels = pd.DataFrame({"label": LABELS}, index=IDS)
    labels.to_parquet(path / "labels.parquet")
    split = pd.DataFrame({"id": list(SPLIT), "split": list(SPLIT.values())}).set_index("id")
    split.to_parquet(path / "split.parquet")


def integers(name):
    """Ids and labels as integers of every width, labels as floats with NaN, features as truth values."""
    path = folder(name)
    numbers = {node: 10 + k for k, node in enumerate(IDS)}
    ends = lambda nodes, kind: pa.array([numbers[node] for node in nodes], kind)
    pq.write_table(pa.table({"u": ends(SOURCE, pa.uint64()), "v": ends(TARGET, pa.int16())}),
                   path / "edges.parquet")
    features = {"node": ends(IDS, pa.uint32()), "flag": pa.array([True, False, True, True, False]),
                "count": pa.array([1, 2, -3, 400, 0], pa.int64())}
    pq.write_table(pa.table(features), path / "features.parquet")
    pq.write_table(pa.table({"node": ends(IDS, pa.int8()), "class": pa.array([1.0, 0.0, float("nan"), None, -1.0])}),
                   path / "labels.parquet")


def long(name):
    """The long layout; a null feature and value declare a node."""
    path = folder(name)
    pq.write_table(pa.table({"source": strings(SOURCE), "target": strings(TARGET)}), path / "edges.parquet")
    pq.write_table(pa.table({"id": strings(["a", "c", "b", "b", "d"]), "feature": pa.array([7, 7, None, 2, None]),
                             "value": pa.array([1.5, 2.5, None, 4.0, None])}),
                   path / "features.parquet")


def refused(name):
    """What is not a table of plain values."""
    path = folder(name)
    ids = strings(["a", "b"])
    for kind, column in {
        "list": pa.array([[1.0], [2.0, 3.0]]),
        "struct": pa.array([{"left": 1}, {"left": 2}]),
        "timestamp": pa.array([0, 1], pa.timestamp("ms")),
        "decimal": pa.array([1, 2], pa.int32()).cast(pa.decimal128(12, 2)),
        "half": pa.array([1.0, 2.0], pa.float32()).cast(pa.float16()),
        "binary": pa.array([b"\xff", b"a"]),
    }.items():
        pq.write_table(pa.table({"id": ids, "wrong": column}), path / f"{kind}.parquet")
    good = pa.table({"id": ids, "x": pa.array([1.0, 2.0])})
    pq.write_table(good, path / "lz4.parquet", compression="lz4")
    pq.write_table(good, path / "delta.parquet", use_dictionary=False,
                   column_encoding={"id": "DELTA_BYTE_ARRAY", "x": "PLAIN"})


def others(name):
    """Columns that no cell has beside those that are meant."""
    columns = {"id": strings(["a", "b"]), "when": pa.array([0, 1], pa.timestamp("ms")),
               "parts": pa.array([[1.0], [2.0, 3.0]]), "x": pa.array([1.5, 2.5])}
    pq.write_table(pa.table(columns), folder(name) / "features.parquet")


def bombs(name):
    """Small files that stand for much: one edge six million times, and a cell of 2 MiB in each of 200 columns; and one
    that hides 256 MiB in a page that claims to have 32 KiB."""
    path = folder(name)
    edge = {"source": strings(["a"] * 6_000_000), "target": strings(["b"] * 6_000_000)}
    pq.write_table(pa.table(edge), path / "repeated.parquet", compression="zstd", row_group_size=6_000_000)
    wide = {"id": strings(["a"]), **{f"x{k}": strings(["a" * (2 << 20)]) for k in range(200)}}
    options = {"use_dictionary": False, "write_statistics": False, "store_schema": False}
    pq.write_table(pa.table(wide), path / "wide.parquet", compression="zstd", **options)
    understated(path / "understated.parquet")


def understated(path):
    """Exchanges the frame of a page for a longer one that expands further, padded to the same length with an empty frame
    that is skipped; all sizes in the headers stay as they are."""
    random.seed(1)
    values = [random.random() for _ in range(4096)]
    table = pa.table({"id": pa.array([f"n{k}" for k in range(4096)]), "x": pa.array(values)})
    options = {"use_dictionary": False, "write_statistics": False, "data_page_version": "1.0"}
    pq.write_table(table, path, compression={"id": "zstd", "x": "zstd"}, **options)
    whole = bytearray(path.read_bytes())
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(1)
    start, end = chunk.data_page_offset, chunk.data_page_offset + chunk.total_compressed_size
    frame = whole.index(b"\x28\xb5\x2f\xfd", start)
    bomb = zstandard.ZstdCompressor(level=19, write_content_size=False).compress(bytes(256 << 20))
    left = end - frame - len(bomb) - 8
    assert left >= 0, (end - frame, len(bomb))
    whole[frame:end] = bomb + b"\x50\x2a\x4d\x18" + left.to_bytes(4, "little") + bytes(left)
    path.write_bytes(whole)


plain("plain", compression="none")
plain("zstd", compression="zstd")
plain("zstd2", compression="zstd", data_page_version="2.0", use_dictionary=False)
polars("polars")
plain("snappy", compression="snappy", data_page_version="2.0")
plain("gzip", compression="gzip", use_dictionary=False)
dictionary("dictionary")
pandas("pandas")
integers("integers")
long("long")
refused("refused")
others("others")
bombs("refused")

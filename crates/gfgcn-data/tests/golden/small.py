"""The dataset `SMALL` of `tests/tables/main.rs`, which other programs write in their formats."""

IDS = ["a", "b", "c", "d", "e"]
SOURCE = ["a", "b", "a", "d"]
TARGET = ["b", "c", "c", "a"]
WEIGHT = [0.5, 2.0, 1.0, 1.0]
X = [1.0, 0.1, -3.0, 0.0, 7.0]
Y = [0.25, 2.0, 1e-30, 5.0, 8.0]
LABELS = ["yes", "no", None, None, "yes"]
SPLIT = {"a": "train", "b": "val", "e": "test"}

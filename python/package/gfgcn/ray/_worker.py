"""What runs on a worker: one share of a job, on the store as this machine sees it."""

from __future__ import annotations

import functools
import hashlib
import os
import pathlib
import socket
from dataclasses import dataclass
from typing import Any

from .._gfgcn import Job, __version__


@dataclass(frozen=True)
class Task:
    """A share, and what a worker must have to compute it."""

    share: str
    # The store, and the hash of its list of checksums.
    store: str
    contents: str
    threads: int
    memory: int | None
    version: str = __version__


@dataclass(frozen=True)
class Failure:
    """What is wrong with a machine, told and not raised: a person wants no traceback of it."""

    kind: str
    message: str


def contents(store: str | os.PathLike[str]) -> str:
    """The hash of what a store says of its files, their checksums among it."""
    return hashlib.sha256((pathlib.Path(store) / "meta.json").read_bytes()).hexdigest()


def compute(task: Task, job: bytes) -> list[tuple[str, Any]] | Failure:
    """The files of a share, or why there are none."""
    try:
        _check(task)
        opened = _opened(job, task.store, task.contents, task.threads)
        return opened.compute(task.share, task.memory, (task.threads, "cpu"))
    except (ValueError, OSError, MemoryError) as error:
        return Failure(type(error).__name__, f"on {socket.gethostname()}: {error}")


def _check(task: Task) -> None:
    if task.version != __version__:
        raise ValueError(
            f"there is gfgcn {__version__}, but the driver has {task.version}; install the same version on every machine"
        )
    everywhere = "every machine must see the store under this path: mount the shared folder there, or take the machine out of the cluster"
    if not os.path.isdir(task.store):
        raise FileNotFoundError(f"there is no folder {task.store}; {everywhere}")
    try:
        here = contents(task.store)
    except FileNotFoundError:
        raise FileNotFoundError(f"{task.store} has no meta.json, so it is no store; {everywhere}") from None
    if here != task.contents:
        raise ValueError(
            f"{task.store} is another store than the driver's: their meta.json differ; every machine needs the same one, copied "
            "whole or mounted from one place"
        )


@functools.lru_cache(maxsize=1)
def _opened(job: bytes, store: str, contents: str, threads: int) -> Job:
    """A worker computes share after share of the same job: its store is opened, and checked, once."""
    return Job.open(job, store, (threads, "cpu"))

"""The cluster, as far as the driver has to do with it: connecting, handing out shares, gathering what comes of them."""

from __future__ import annotations

import contextlib
import os
import pathlib
import socket
from collections.abc import Iterator
from typing import Any, Callable

from .._gfgcn import Job, accept
from . import _worker

Progress = Callable[[int, int], None]
"""Told how many shares are finished, of how many."""

# Seconds that an address has to answer in.
_PATIENCE = 10.0
# How often a share is tried again when its worker is lost.
_RETRIES = 5
# What an HTTP/2 client says first, which Ray's servers are: a preface and empty settings.
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_SETTINGS = 4

_FAILURES = {kind.__name__: kind for kind in (FileNotFoundError, MemoryError, OSError, PermissionError, ValueError)}


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise ImportError(
            f"Ray is not to be had here ({error}); pip install 'gfgcn[ray]' installs it, on every machine of the cluster"
        ) from None
    return ray


@contextlib.contextmanager
def connected(address: str | None) -> Iterator[Any]:
    """Ray, connected to a cluster: the one at an address; else the one that this process has, that the environment names or that
    runs on this machine; else a new one of this machine. What was begun here is ended here."""
    ray = _ray()
    if ray.is_initialized():
        if address is not None:
            raise ValueError(f"this process is connected to a cluster already; call ray.shutdown() first, or leave out the address {address!r}")
        yield ray
        return
    named = address or os.environ.get("RAY_ADDRESS")
    if named not in (None, "auto", "local"):
        _check_answers(str(named))
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", configure_logging=False)
    except (ConnectionError, RuntimeError, TimeoutError) as error:
        where = "there is no cluster" if named in (None, "auto") else f"the cluster at {named} cannot be joined"
        raise ConnectionError(f"{where}: {error}; start one with ray start --head, and name its address") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def _check_answers(address: str) -> None:
    """Gives up on an address where nothing speaks Ray's protocol, before Ray tries for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise ValueError(f"the address {address!r} is none; write HOST:PORT, as ray start --head says it")
    remedy = "start the cluster with ray start --head --port PORT, and see that no firewall is in between"
    try:
        with socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE) as connection:
            connection.sendall(_GREETING)
            answer = connection.recv(9)
    except (OSError, OverflowError) as error:
        reason = f"no answer in {_PATIENCE:.0f} s" if isinstance(error, TimeoutError) else str(error)
        raise ConnectionError(f"nothing answers at {address} ({reason}); {remedy}") from None
    if len(answer) < 9 or answer[3] != _SETTINGS:
        raise ConnectionError(f"what answers at {address} is not Ray; {remedy}")


def share_out(
    ray: Any, job: Job, work: pathlib.Path, num_cpus: int, progress: Progress | None = None
) -> None:
    """Has the cluster compute what is not in the work folder yet, and puts it there."""
    slots, memory = _room(ray, num_cpus)
    left, total = job.plan(slots, job.memory or memory, os.fspath(work))
    if progress is not None:
        progress(total - len(left), total)
    if not left:
        return
    store = os.fspath(job.store)
    contents = _worker.contents(store)
    compute = ray.remote(num_cpus=num_cpus, max_retries=_RETRIES)(_worker.compute)
    described = ray.put(job.to_bytes())
    expected: dict[Any, list[str]] = {}
    waiting = list(reversed(left))
    done = total - len(left)
    # Where this ends early, shares that are at hand run to their end or to that of the connection: ray.cancel of a task that is
    # just being finished ends the driver (seen with Ray 2.60).
    while waiting or expected:
        # Not all at once: what is finished waits in the memory of its machine until it is fetched.
        while waiting and len(expected) < 2 * slots:
            share, files = waiting.pop()
            task = _worker.Task(share, store, contents, num_cpus, job.memory)
            expected[compute.remote(task, described)] = files
        finished, _ = ray.wait(list(expected), num_returns=1)
        for reference in finished:
            _keep(_fetched(ray, reference), expected.pop(reference), work)
            done += 1
            if progress is not None:
                progress(done, total)


def _room(ray: Any, num_cpus: int) -> tuple[int, int]:
    """How many shares can be computed side by side, and the memory that is left for each."""
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    able = [node for node in nodes if node.get("CPU", 0) >= num_cpus]
    if not able:
        most = max((int(node.get("CPU", 0)) for node in nodes), default=0)
        raise ValueError(
            f"num_cpus is {num_cpus}, but no machine of the cluster has more than {most}; ask for fewer, or add machines with ray start"
        )
    slots = sum(int(node["CPU"] // num_cpus) for node in able)
    memory = min(int(node.get("memory", 0) // (node["CPU"] // num_cpus)) for node in able)
    return slots, memory


def _fetched(ray: Any, reference: Any) -> list[tuple[str, Any]]:
    remedy = "what is finished is kept: run the same again to go on"
    try:
        outcome = ray.get(reference)
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.ObjectLostError) as error:
        raise OSError(f"a share was lost {_RETRIES + 1} times with its worker ({type(error).__name__}); {remedy}") from None
    except ray.exceptions.OutOfMemoryError:
        raise MemoryError(
            "workers ran out of memory; say how much each may take with --memory, or give each more processors with --num-cpus; "
            + remedy
        ) from None
    except ray.exceptions.RayTaskError as error:
        cause = str(error.cause or error).strip().splitlines()[-1]
        raise RuntimeError(
            f"a worker could not begin: {cause}; every machine needs pip install 'gfgcn[ray]', in the same version"
        ) from None
    if isinstance(outcome, _worker.Failure):
        raise _FAILURES.get(outcome.kind, OSError)(outcome.message)
    pieces: list[tuple[str, Any]] = outcome
    return pieces


def _keep(pieces: list[tuple[str, Any]], expected: list[str], work: pathlib.Path) -> None:
    if sorted(name for name, _ in pieces) != sorted(expected):
        raise RuntimeError("a worker has computed something else than it was asked for; install the same gfgcn on every machine")
    for name, content in pieces:
        accept(os.fspath(work), name, content)

"""``fit``, ``predict`` and ``evaluate`` on a cluster: the shares there, and the command itself here, which finds them finished."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any, Union

import numpy as np

from .. import _inputs
from .._classifier import GradientFreeClassifier
from .._gfgcn import Job, Model
from .._learner import Learner, Predicted
from .._regressor import GradientFreeRegressor
from .._results import Results
from .._settings import Workers, whole
from .._store import Store
from .._types import Array
from ._cluster import Progress, connected, share_out

Path = Union[str, "os.PathLike[str]"]


class Refused(ValueError):
    """A command that is not run: its exit status, and what is to be said. Help that was asked for has the status 0."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def job_of(command: list[str]) -> Job:
    """What a command asks for, and its data."""
    try:
        return Job.of_command(["gfgcn", *command])
    except ValueError as error:
        if len(error.args) == 2:
            raise Refused(*error.args) from None
        raise


@contextlib.contextmanager
def shared(
    command: list[str], address: str | None, num_cpus: int, progress: Progress | None = None
) -> Iterator[pathlib.Path]:
    """Computes the shares of a command on a cluster; the folder that they are in."""
    if whole("num_cpus", num_cpus) < 1:
        raise ValueError(f"num_cpus is {num_cpus}, but must be at least 1")
    job = job_of(command)
    with contextlib.ExitStack() as stack:
        beside = None if job.output is None else job.output.with_name(f"{job.output.name}.work")
        named = job.work or beside
        work = named or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gfgcn-")))
        with connected(address) as ray:
            share_out(ray, job, pathlib.Path(work), num_cpus, progress)
        del job  # the store is opened again below
        yield pathlib.Path(work)


def finishing(command: list[str], work: pathlib.Path) -> list[str]:
    """The command that takes over what is in a work folder."""
    kept = _without(list(_without(command, "--work")), "--device")
    return [sys.executable, "-m", "gfgcn", *kept, "--work", os.fspath(work), "--device", "cpu"]


def _without(arguments: list[str], option: str) -> Iterator[str]:
    """Arguments but for an option with its value."""
    rest = iter(arguments)
    for argument in rest:
        if argument == option:
            next(rest, None)
        elif not argument.startswith(f"{option}="):
            yield argument


def _options(options: dict[str, Any]) -> list[str]:
    """Options of the command line by keyword: ``row_normalize=True`` is ``--row-normalize``, ``lambda_=2`` is ``--lambda=2``."""
    arguments = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is True:
            arguments.append(option)
        elif isinstance(value, (list, tuple)):
            arguments.append(f"{option}={','.join(map(str, value))}")
        elif value is not None and value is not False:
            arguments.append(f"{option}={value}")
    return arguments


def _path(store: Any) -> str:
    return os.fspath(store.path if isinstance(store, Store) else store)


def _finish(command: list[str], work: pathlib.Path) -> str:
    done = subprocess.run(finishing(command, work), capture_output=True, text=True)
    if done.returncode:
        message = done.stderr.strip().removeprefix("error: ")
        raise OSError(message) if done.returncode == 4 else ValueError(message)
    return done.stdout


def fit(
    store: Path | Store,
    output: Path | None = None,
    *,
    address: str | None = None,
    num_cpus: int = 1,
    progress: Progress | None = None,
    **options: Any,
) -> GradientFreeClassifier | GradientFreeRegressor:
    """Trains a model on a cluster, to the last bit the one that ``gfgcn fit`` trains on one machine.

    Parameters
    ----------
    store
        A store, which every machine sees under the same path.
    output
        The model file; what is finished is kept beside it until it is there, in ``OUTPUT.work``, and taken up by the next call.
    address
        The cluster: ``HOST:PORT`` as ``ray start --head`` says it. Without one, that of the environment variable
        ``RAY_ADDRESS`` or of this machine, or a new one of this machine's processors.
    num_cpus
        Processors, and threads, of each share.
    progress
        Told how many shares are finished, of how many.
    **options
        Those of ``gfgcn fit``, such as ``model="gfsgc"``, ``depth=4``, ``public_split=True``, ``memory="4GB"`` (of each worker),
        ``force=True``. A model must be described: the search for one is not shared by machines.

    Returns
    -------
    The fitted estimator, as ``load`` reads it.
    """
    with tempfile.TemporaryDirectory(prefix="gfgcn-") as folder:
        target = os.fspath(output) if output is not None else os.path.join(folder, "fitted.model")
        command = ["fit", _path(store), "-o", target, *_options(options)]
        with shared(command, address, num_cpus, progress) as work:
            _finish(command, work)
        return _load(target)


def predict(
    model: Path | Learner,
    store: Path | Store,
    output: Path | None = None,
    *,
    address: str | None = None,
    num_cpus: int = 1,
    progress: Progress | None = None,
    **options: Any,
) -> Array | None:
    """Predicts every node of a store on a cluster, to the last bit as ``gfgcn predict`` and estimators do on one machine.

    Parameters
    ----------
    model
        A model file, or a fitted estimator.
    output
        A file to be written as by ``gfgcn predict``; without one, the predictions are returned as ``model.predict(store)`` would.
    **options
        Those of ``gfgcn predict``, with ``output``, such as ``probabilities=True``. All others as in :func:`fit`.
    """
    for_files = sorted(set(options) - {"memory", "work"})
    if output is None and for_files:
        raise ValueError(f"{', '.join(for_files)}: such options are for a file, so pass output, too")
    with tempfile.TemporaryDirectory(prefix="gfgcn-") as folder:
        path = os.path.join(folder, "predicting.model")
        if isinstance(model, Learner):
            model.save(path)
        else:
            path = os.fspath(model)
        target = os.fspath(output) if output is not None else os.path.join(folder, "predictions.npz")
        command = ["predict", path, _path(store), "-o", target, *_options(options)]
        with shared(command, address, num_cpus, progress) as work:
            if output is not None:
                _finish(command, work)
                return None
            learner = copy.copy(model if isinstance(model, Learner) else _load(path))
            return _predicted(learner, store if isinstance(store, Store) else Store(store), work)


def _predicted(learner: Any, store: Store, work: pathlib.Path) -> Array:
    """What an estimator predicts, from the shares in a work folder."""
    workers = Workers.of(learner.n_jobs, "cpu")
    checked = _inputs.check(_inputs.unpack(store, None, None).without_labels())
    learner._check_features(checked.table.columns, checked.table.names)
    decoded, scores, _ = learner._model.predict(checked.dataset(workers), None, workers, os.fspath(work))
    learner._training_graph = Predicted(decoded, scores, None)
    return np.asarray(learner.predict())


def evaluate(
    store: Path | Store,
    output: Path | None = None,
    *,
    address: str | None = None,
    num_cpus: int = 1,
    progress: Progress | None = None,
    **options: Any,
) -> Results:
    """Evaluates models in closed form over splits on a cluster, with the scores of ``gfgcn evaluate`` to the last bit.

    Parameters
    ----------
    output
        A table of all scores to be written, as ``gfgcn evaluate -o`` does.
    **options
        Those of ``gfgcn evaluate``, such as ``models=["gfsgc", "gfssgc"]``, ``depths=[2, 8]``, ``splits=20``. All others as in
        :func:`fit`.
    """
    command = ["evaluate", _path(store), *_options(options)]
    if output is not None:
        command += ["-o", os.fspath(output)]
    with shared(command, address, num_cpus, progress) as work:
        report = json.loads(_finish([*command, "--json"], work))
    return Results((_row(row) for row in report["results"]), hidden=["scores", "metric"])


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the report, as ``gfgcn.evaluate`` has them."""
    shown = {"model": row["model"], "depth": row["depth"], "metric": row["metric"], "score": row["score"]["mean"]}
    if row.get("accuracy") is not None:
        shown["accuracy"] = row["accuracy"]["mean"]
    shown["std_error"] = row["score"]["std_error"]
    shown["scores"] = np.array(row["scores"])
    shown["lam"] = row["lambda_median"]
    if row.get("calibration") is not None:
        shown["calibration"] = row["calibration"]
    return shown


def _load(path: str) -> GradientFreeClassifier | GradientFreeRegressor:
    values = Model.load(path).kind == "values"
    return GradientFreeRegressor.load(path) if values else GradientFreeClassifier.load(path)

"""Contestants as processes, and the order in which they take turns.

A contestant prepares its data, says {"ready": {...}} and then answers every line "run" with one line
{"seconds": ..., "check": {...}}. One that crashes, hangs or babbles is put out and reported; the
others go on.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field

from . import load

# Threads of numerical libraries go on looking for work for a while after a call; the next
# contestant should not have to share the processors with them.
PAUSE = 0.1

# Seconds that a contestant has to end by itself.
PATIENCE = 2


class Failure(Exception):
    """Why a contestant has no result."""


@dataclass
class Contestant:
    """One program in one task."""

    name: str
    command: list
    # gfgcn is to be at least this many times faster; None where nothing is claimed.
    target: float | None = None
    # Instead: it is to take at most this many times gfgcn's time, as another way to call the same engine.
    limit: float | None = None
    # Whether its results must agree with gfgcn's; a differently trained model's are only reported.
    must_agree: bool = True


@dataclass
class Repetition:
    seconds: float
    calls: int = 1
    check: dict = field(default_factory=dict)
    figures: dict = field(default_factory=dict)
    # The least time that the machine allows, measured beside it: {"seconds": ..., "made_of": [...]}.
    floor: dict | None = None
    # What the time was extrapolated from; None where everything was run.
    extrapolated: str | None = None
    # The share of the machine's processor time that other programs took meanwhile.
    others: float | None = None
    # The most bytes of memory that were resident meanwhile.
    peak: int | None = None


@dataclass
class Result:
    contestant: Contestant
    info: dict = field(default_factory=dict)
    repetitions: list = field(default_factory=list)
    failure: str | None = None

    @property
    def best(self) -> float | None:
        return min((r.seconds for r in self.repetitions), default=None)


def compete(contestants, repetitions, limit, budget, environment, log=print) -> list:
    """Alternates the contestants, forwards in one round and backwards in the next.

    `limit` is the longest time in seconds for one answer; a contestant that has used up `budget`
    sits out the later rounds.
    """
    results = [Result(contestant) for contestant in contestants]
    processes = {}
    try:
        for result in results:
            process = processes[result.contestant.name] = Process(result.contestant, environment)
            attempt(result, process, lambda p, r: r.info.update(p.ready(limit)), log)
        for turn in range(repetitions):
            for result in results if turn % 2 == 0 else reversed(results):
                spent = sum(r.seconds * r.calls for r in result.repetitions)
                if result.failure is None and (spent < budget or not result.repetitions):
                    process = processes[result.contestant.name]
                    attempt(result, process, lambda p, r: r.repetitions.append(p.run(limit)), log)
                    time.sleep(PAUSE)
    finally:
        for process in processes.values():
            process.stop()
    return results


def attempt(result, process, action, log) -> None:
    try:
        action(process, result)
    except Failure as failure:
        result.failure = str(failure)
        process.stop()
        log(f"    {result.contestant.name}: {failure}")


class Process:
    def __init__(self, contestant, environment):
        self.complaints = tempfile.TemporaryFile()
        self.process, self.lines = None, queue.Queue()
        try:
            # A session of its own, so that stopping it also stops what it started.
            self.process = subprocess.Popen(
                contestant.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.complaints,
                env={**os.environ, **environment},
                text=True,
                start_new_session=True,
            )
        except OSError as error:
            self.complaints.close()
            self.lines.put(error)
            return
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()

    def _listen(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def ready(self, limit) -> dict:
        answer = self._answer(limit)
        if not isinstance(answer.get("ready"), dict):
            raise Failure(f"said {json.dumps(answer)[:100]} instead of being ready")
        return answer["ready"]

    def run(self, limit) -> Repetition:
        before = load.Snapshot(self.process.pid)
        load.forget_peak(self.process.pid)
        try:
            self.process.stdin.write("run\n")
            self.process.stdin.flush()
        except OSError:
            raise Failure(self._last_words()) from None
        answer = self._answer(limit)
        repetition = understand(answer)
        repetition.others = load.Snapshot(self.process.pid).others_since(before)
        repetition.peak = load.peak(self.process.pid)
        return repetition

    def _answer(self, limit) -> dict:
        try:
            line = self.lines.get(timeout=limit)
        except queue.Empty:
            raise Failure(f"no answer within {limit:g} s") from None
        if isinstance(line, OSError):
            raise Failure(str(line))
        if line is None:
            raise Failure(self._last_words())
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise Failure(f"said {line.strip()[:100]!r}, which is not an answer")
        return answer

    def _last_words(self) -> str:
        try:
            status = f"ended with status {self.process.wait(timeout=PATIENCE)}"
        except subprocess.TimeoutExpired:
            status = "stopped talking"
        self.complaints.seek(0)
        text = self.complaints.read().decode(errors="replace").strip()
        return f"{status}: {text.splitlines()[-1] if text else 'no message'}"

    def stop(self) -> None:
        if self.process is None or self.complaints.closed:
            return
        try:
            self.process.stdin.write("quit\n")
            self.process.stdin.close()
        except OSError:
            pass
        try:
            self.process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.listener.join()
        self.process.stdout.close()
        self.complaints.close()


def understand(answer: dict) -> Repetition:
    """One answer as a repetition; parts that were not run in full are scaled up by their counts."""
    try:
        parts = answer.get("parts") or []
        extrapolated = None
        seconds = float(answer["seconds"])
        if parts:
            seconds = sum(p["seconds"] * p["total"] / p["done"] for p in parts)
            short = [p for p in parts if p["done"] < p["total"]]
            extrapolated = ", ".join(f"{p['done']} of {p['total']} {p['name']}" for p in short) or None
        if not seconds > 0:
            raise ValueError
        calls = int(answer.get("calls", 1))
        check, figures = answer.get("check") or {}, answer.get("figures") or {}
        return Repetition(seconds, calls, check, figures, answer.get("floor"), extrapolated)
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        raise Failure(f"said {json.dumps(answer)[:100]}, which has no time") from None

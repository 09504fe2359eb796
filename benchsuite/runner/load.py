"""Who else uses the processors, since a run beside other work says little, and how much memory a contestant takes."""

from __future__ import annotations

import os
import time
from pathlib import Path


class Snapshot:
    """Processor time used so far by the machine and by one process, in seconds; nothing where the
    system does not tell."""

    def __init__(self, pid: int):
        self.time = time.monotonic()
        try:
            tick = os.sysconf("SC_CLK_TCK")
            fields = [int(f) for f in Path("/proc/stat").read_text().split("\n")[0].split()[1:]]
            user, nice, system, _idle, _waiting, irq, soft_irq, stolen = fields[:8]
            self.machine = (user + nice + system + irq + soft_irq + stolen) / tick
            own = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            self.own = (int(own[11]) + int(own[12])) / tick
        except (OSError, ValueError, IndexError):
            self.machine = self.own = None

    def others_since(self, before: Snapshot) -> float | None:
        """The share of all processor time since then that went to others, 0 to 1."""
        wall = self.time - before.time
        if self.machine is None or before.machine is None or wall <= 0:
            return None
        others = (self.machine - before.machine) - (self.own - before.own)
        return min(1.0, max(0.0, others / (wall * (os.cpu_count() or 1))))


def forget_peak(pid: int) -> None:
    """Has the kernel count the peak of a process's memory from here on, where it can."""
    try:
        Path(f"/proc/{pid}/clear_refs").write_text("5")
    except OSError:
        pass


def peak(pid: int) -> int | None:
    """The most bytes that were resident since then; None where the system does not tell."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    except (OSError, ValueError, IndexError, StopIteration):
        return None

"""A process, watched from outside."""

from __future__ import annotations

import pathlib
import subprocess
import time


def watched(command: list[str], every: float = 0.05) -> dict[str, float]:
    """Runs a command: seconds, peak of anonymous and of all resident memory, and bytes from and to the disk."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = {"RssAnon": 0, "RssFile": 0, "VmHWM": 0}
    traffic = {"read_bytes": 0, "write_bytes": 0}
    folder = pathlib.Path("/proc") / str(process.pid)
    while process.poll() is None:
        for name, value in numbers(folder / "status").items():
            if name in peak:
                peak[name] = max(peak[name], 1024 * value)
        traffic.update({name: value for name, value in numbers(folder / "io").items() if name in traffic})
        time.sleep(every)
    seconds = time.monotonic() - start
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return {
        "seconds": round(seconds, 2),
        "anonymous_gb": round(peak["RssAnon"] / 1e9, 3),
        "mapped_gb": round(peak["RssFile"] / 1e9, 3),
        "read_gb": round(traffic["read_bytes"] / 1e9, 3),
        "written_gb": round(traffic["write_bytes"] / 1e9, 3),
    }


def numbers(path: pathlib.Path) -> dict[str, int]:
    """The numbers of a file of /proc by their names; none where the process has just ended."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return {}
    found = {}
    for line in lines:
        name, _, rest = line.partition(":")
        first = rest.split()[:1]
        if first and first[0].isdigit():
            found[name] = int(first[0])
    return found

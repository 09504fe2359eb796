"""What a run was made on."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path


def describe(root: Path) -> dict:
    return {
        "processor": after("/proc/cpuinfo", "model name") or platform.processor(),
        "processors": os.cpu_count(),
        "cache": said(["getconf", "LEVEL3_CACHE_SIZE"]),
        "memory": after("/proc/meminfo", "MemTotal"),
        "system": platform.platform(),
        "python": platform.python_version(),
        "rust": said(["rustc", "--version"]),
        "commit": said(["git", "-C", str(root), "describe", "--always", "--dirty"]),
        "load_average": os.getloadavg()[0],
    }


def after(file: str, name: str) -> str | None:
    """The first value with a name in a file of `name: value` lines."""
    try:
        lines = Path(file).read_text().splitlines()
    except OSError:
        return None
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), None)


def said(command: list) -> str | None:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None

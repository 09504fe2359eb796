"""The command line, as ``pip install`` gives it: ``gfgcn``, or ``python -m gfgcn``."""

from __future__ import annotations

import sys

from ._gfgcn import command_line


def main() -> int:
    """Runs the command line with the arguments of the process, and returns its exit status."""
    return command_line(["gfgcn", *sys.argv[1:]])

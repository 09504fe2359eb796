"""``python -m gfgcn.ray fit|predict|evaluate …``: the commands of ``gfgcn``, whose work a cluster shares."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

from ._cluster import Progress
from ._commands import Refused, finishing, job_of, shared

_USAGE = """python -m gfgcn.ray fit|predict|evaluate [--address HOST:PORT] [--num-cpus N] …

Shares the work of gfgcn fit, predict or evaluate among the machines of a Ray cluster, with the same options and the same result, to
the last bit. The dataset is a store, which every machine sees under the same path; --memory is what each worker may take."""
_BAD_INPUT = 3
_MACHINE_FAILURE = 4
_INTERRUPTED = 130
# Seconds between lines that say how far it is.
_LINES = 10.0


def main(arguments: list[str]) -> int:
    """Runs a command, and returns its exit status."""
    parser = argparse.ArgumentParser("python -m gfgcn.ray", usage=_USAGE, add_help=False, allow_abbrev=False)
    own = parser.add_argument_group("of the cluster")
    own.add_argument(
        "--address",
        metavar="HOST:PORT",
        help="the cluster, as ray start --head says it [default: $RAY_ADDRESS, else that of this machine, else a new one of it]",
    )
    own.add_argument("--num-cpus", metavar="N", type=int, default=1, help="processors, and threads, of each share [default: 1]")
    asked, command = parser.parse_known_args(arguments)
    if not command or command[0] in ("-h", "--help"):
        parser.print_help()
        return 0 if command else 2
    quiet = bool({"-q", "--quiet"} & set(command))
    try:
        if {"-h", "--help"} & set(command):
            job_of(command)
        with shared(command, asked.address, asked.num_cpus, None if quiet else _lines()) as work:
            return subprocess.run(finishing(command, work)).returncode
    except Refused as refused:
        if refused.status == 0:
            parser.print_help()
            print(f"\n{refused}")
        else:
            _say(str(refused).removeprefix("error: "))
        return refused.status
    except KeyboardInterrupt:
        return _INTERRUPTED
    except (ValueError, FileNotFoundError, PermissionError) as error:
        _say(error)
        return _BAD_INPUT
    except (ImportError, MemoryError, OSError, RuntimeError) as error:
        _say(error)
        return _MACHINE_FAILURE


def _say(problem: object) -> None:
    print(f"error: {problem}", file=sys.stderr)


def _lines() -> Progress:
    """Says now and then how far it is."""
    start = said = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal said
        now = time.monotonic()
        if now - said >= _LINES or done == total:
            said = now
            print(f"[{now - start:.1f} s] {done} of {total} shares", file=sys.stderr)

    return tell


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))

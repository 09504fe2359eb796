"""What work can run on."""

from __future__ import annotations

import sys

from ._gfgcn import devices as _devices
from ._gfgcn import look_for_libraries
from ._results import Results

# Where pip puts NVIDIA's libraries, which the system does not look for.
look_for_libraries([folder for folder in sys.path if folder.endswith(("site-packages", "dist-packages"))])


def devices() -> Results:
    """The processor, and the GPUs that can be used, or why there is none.

    One row each: ``device`` (what the parameter ``device`` takes), ``name``, ``free_bytes`` and ``total_bytes`` of its memory,
    and ``problem``, which is None where it can be used.

    >>> from gfgcn import devices
    >>> devices()[0]["device"]
    'cpu'
    """
    return Results(_devices())

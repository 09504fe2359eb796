"""The work of ``fit``, ``predict`` and ``evaluate`` on several machines, by Ray.

Each machine maps the same store from a folder that all of them see. What can be computed apart (slabs of columns, slabs of classes, designs
on splits) is; the driver solves. The results are those of one machine, to the last bit, and what a lost machine had at hand is
computed again elsewhere.

``pip install gfgcn[ray]`` installs what it needs. ``python -m gfgcn.ray fit …`` does the same as a command.
"""

from ._commands import evaluate, fit, predict

__all__ = ["evaluate", "fit", "predict"]

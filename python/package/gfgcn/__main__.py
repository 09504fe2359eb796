"""``python -m gfgcn``: the command line."""

from ._command_line import main

raise SystemExit(main())

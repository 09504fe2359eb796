"""Runs contestants against each other; see ../README.md."""

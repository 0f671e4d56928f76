"""The command line. Each command is a file that is imported only when it runs, so that `--help` is quick."""

from answerable.cli.main import main_and_leave as main

__all__ = ["main"]

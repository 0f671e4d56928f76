"""Paths of the server's disk, left out of what its clients read.

Errors name files by their whole path, which is what the person at the machine needs. Over HTTP the same path would tell
everybody how the server's disk is laid out, so a server says only where in its source or home folder a file is.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

from answerable.core.errors import AnswerableError

_SOMEWHERE = "a folder of the server"


class HiddenPaths:
    def __init__(self, roots: Iterable[Path] = ()) -> None:
        """`roots`: the files and folders that errors may name, or whose contents they may name."""
        spelled = {path for root in roots for path in (root.absolute(), _resolved(root)) if path.name}
        self._names = {str(path): path.name for path in spelled}
        for path in spelled:
            for folder in path.parents[:-1]:  # not the root of the disk itself
                self._names.setdefault(str(folder), _SOMEWHERE)
        self._names |= {f"file://{quote(path)}": name for path, name in self._names.items()}
        longest_first = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile(rf"(?<![\w./-])({'|'.join(map(re.escape, longest_first))})(/(?=[^\s/])|(?![\w.-]))")

    def text(self, text: str) -> str:
        if "/" not in text or not self._names:
            return text
        return self._pattern.sub(lambda found: "" if found[2] else self._names[found[1]], text)

    def of(self, error: AnswerableError) -> AnswerableError:
        """The same error without the paths. Changes the error itself: its class may need other arguments to be made."""
        error.message = self.text(error.message)
        error.hint = self.text(error.hint) if error.hint is not None else None
        return error


def _resolved(path: Path) -> Path:
    # Unlike `Path.resolve`, this accepts links that lead to each other.
    return Path(os.path.realpath(path))

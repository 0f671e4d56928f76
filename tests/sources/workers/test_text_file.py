"""Text whose first bytes promise an encoding that the rest does not keep is refused, not a crash."""

from pathlib import Path

import pytest

from answerable.sources.workers.failures import Failure
from answerable.sources.workers.text_file import plain_text

TEXT = "a,b\n1,2\n" * 20


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le", "utf-16-be"])
def test_text_that_is_cut_off_is_refused(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "cut.csv"
    path.write_bytes(TEXT.encode(encoding)[:-1])
    with pytest.raises(Failure) as caught:
        plain_text(path, False, tmp_path, 10_000)
    assert caught.value.report.code == "file_damaged"


def test_utf_16_that_begins_with_a_nul_is_not_utf_32(tmp_path: Path) -> None:
    path = tmp_path / "nul.csv"
    path.write_bytes(("\0" + TEXT).encode("utf-16"))
    assert plain_text(path, False, tmp_path, 10_000).path.read_text() == TEXT

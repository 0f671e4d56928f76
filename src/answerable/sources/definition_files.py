"""The bytes of a `semantic.yaml`, which lies beside data that may come from anybody."""

from pathlib import Path

from answerable.core.errors import SemanticError


def read_definitions(path: Path, most: int) -> bytes:
    """Reads at most `most` bytes. Raises an error for a link that leads out of the file's folder: it could name any
    file of the machine, and what is said about a source is shown."""
    if path.is_symlink() and not path.resolve().is_relative_to(path.parent.resolve()):
        raise SemanticError(
            f"{path.name} is a link that leads out of its folder; it is not followed.",
            file=path.name,
            hint="Put the file itself there.",
        )
    with path.open("rb") as file:
        return file.read(most)

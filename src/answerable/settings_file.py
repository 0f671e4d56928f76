"""`settings.yaml` changed by Answerable itself: only what changes is written, comments and order stay."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from answerable.core.errors import OperatorError
from answerable.models.config import ModelsConfig
from answerable.settings import Settings, file_values, validated
from answerable.sources.yaml_edit import with_changes
from answerable.store.whole_files import whole_file


class SettingsFile:
    def __init__(self, path: Path) -> None:
        self._path = path

    def values(self) -> dict[str, Any]:
        """The settings as the file has them now: somebody may have edited it since the start."""
        return file_values(self._path)

    def config(self, values: Mapping[str, Any]) -> ModelsConfig:
        """What such a file would say about models, or what is wrong with it."""
        return self._settings(values).models_config

    def write(self, values: Mapping[str, Any]) -> None:
        """Readable by its owner only, because it may hold keys. What could not be read again is not written."""
        self._settings(values)
        place = self._path.resolve()
        try:
            before = place.read_text(encoding="utf-8") if place.exists() else ""
            text = with_changes(before, self.values(), values)
            place.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(place) as partial:
                descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                    file.write(text)
        except OSError as error:
            raise OperatorError(
                f"{self._path} cannot be written: {error.strerror}.",
                code="home_unwritable",
                hint="Check that the file and its folder may be written to, or edit it by hand.",
            ) from error

    def _settings(self, values: Mapping[str, Any]) -> Settings:
        return validated({**values, "home": self._path.parent})

"""Builds the page, if it is not built yet, when a wheel is built. Every wheel contains the page."""

import importlib.util
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        page = _page(Path(self.root) / "scripts" / "page.py")
        if not (page.DIST / "index.html").is_file():
            page.build()


def _page(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location("page", file)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

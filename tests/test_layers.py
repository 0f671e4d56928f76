"""Each layer imports only what is below it. Read from the source, so function-level imports count too."""

import ast
from collections.abc import Iterator, Mapping

import pytest
from package_files import imports, texts

LAYERS: tuple[tuple[str, ...], ...] = (
    ("core",),
    ("isolation",),
    ("computing",),
    ("store",),
    ("query", "protection"),
    ("apis", "access", "identity"),
    ("models", "sources", "sandbox", "answers"),
    ("engine",),
    ("reader",),
    ("agents", "evals", "demo", "okta"),
    ("graphs",),
    ("settings", "logs"),
    ("machine", "settings_file"),
    ("service",),
    ("app", "library_verbs", "case_world"),
    ("library", "case_replay"),
    ("gateway",),
    ("cli", "__main__"),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def imports_of(text: str, module: str) -> Iterator[str]:
    """Every part of Answerable that a module of it imports, by the name of its layer."""
    for node in imports(text):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            assert node.level == 0, f"{module}: relative imports hide the layer"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("answerable."):
                yield name.split(".")[1]


def violations(files: Mapping[str, str]) -> list[str]:
    found = []
    for module, text in files.items():
        layer = module.split("/")[0].removesuffix(".py")
        for imported in imports_of(text, module):
            if imported not in LEVEL:
                continue
            sibling = LEVEL[imported] == LEVEL[layer] and imported != layer
            if sibling or LEVEL[imported] > LEVEL[layer]:
                found.append(f"{module} imports {imported}")
    return found


def sources() -> dict[str, str]:
    return {module: text for module, text in texts().items() if module != "__init__.py"}


def test_every_module_belongs_to_a_layer() -> None:
    assert {module.split("/")[0].removesuffix(".py") for module in sources()} <= set(LEVEL)


def test_no_layer_imports_what_is_above_or_beside_it() -> None:
    assert violations(sources()) == []


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("core/ids.py", "from answerable.store import base"),
        ("core/ids.py", "def late():\n    import answerable.engine.run"),
        ("sources/files.py", "from answerable.answers.answer import Answer"),
        ("engine/run.py", "from answerable import reader"),
    ],
)
def test_a_planted_violation_is_found(module: str, text: str) -> None:
    planted = text.replace("from answerable import reader", "from answerable.reader import reading")
    assert len(violations({module: planted})) == 1

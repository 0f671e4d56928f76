"""Generates the types of the library's verbs from the service, so that editors and mypy know them.

The library calls the service's verbs for the person whose program it is, and waits for them. Its types are therefore
the service's, without `principal` and without `async`. A test compares the generated file with the service.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "answerable"
OUTPUT = PACKAGE / "library_verbs.py"
NOUNS = {
    "RunVerbs": ("runs", "RunService"),
    "QuestionVerbs": ("questions", "QuestionService"),
    "AnswerVerbs": ("answers", "AnswerService"),
    "RowVerbs": ("rows", "RowService"),
    "ComparisonVerbs": ("comparison", "ComparisonService"),
    "ThreadVerbs": ("threads", "ThreadService"),
    "SourceVerbs": ("sources", "SourceService"),
    "NameVerbs": ("semantic", "SemanticService"),
    "SuggestionVerbs": ("suggestions", "SuggestionService"),
    "EvalVerbs": ("evals", "EvalService"),
    "GraphVerbs": ("graphs", "GraphService"),
    "ScheduleVerbs": ("schedules", "ScheduleService"),
    "ProgramVerbs": ("programs", "ProgramService"),
    "AgentVerbs": ("agents", "AgentService"),
    "LearningVerbs": ("learning", "LearningService"),
    "KeyVerbs": ("keys", "KeyService"),
    "SetupVerbs": ("setup", "SetupService"),
    "OktaVerbs": ("okta", "OktaService"),
}
"""Each class of the library: the module and the class of the service whose verbs it has."""
IDS = ("EvalId", "MessageId", "RunId", "ThreadId")
"""Kinds of text that the service tells apart. Users of the library have them as text."""
HEAD = '''"""Types of the library's verbs. Made by `make library-types` from the service; do not edit.

Nothing here runs: `answerable.library.Verbs` calls the service's verb of the same name.
"""
from collections.abc import Iterator
from typing import Protocol
'''


def main() -> None:
    OUTPUT.write_text(generated())


def is_current() -> bool:
    return OUTPUT.read_text() == generated()


def generated() -> str:
    imports: set[str] = set()
    classes = [_protocol(name, *place, imports) for name, place in NOUNS.items()]
    return _formatted("\n".join([HEAD, *sorted(imports), *classes]))


def _protocol(name: str, module: str, owner: str, imports: set[str]) -> str:
    """The class of one noun. The imports that its signatures need are added to `imports`."""
    tree = ast.parse((PACKAGE / "service" / f"{module}.py").read_text())
    [service] = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == owner]
    verbs = [_verb(node) for node in service.body if _is_offered(node)]
    used = {node.id for verb in verbs for node in ast.walk(verb) if isinstance(node, ast.Name)}
    imports.update(_imports(tree, f"answerable.service.{module}", used))
    return ast.unparse(
        ast.ClassDef(name=name, bases=[ast.Name("Protocol")], keywords=[], body=[*verbs], decorator_list=[])
    )


def _is_offered(node: ast.stmt) -> bool:
    """Whether the library offers this: verbs take a principal; what takes none serves the process itself."""
    return (
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("_")
        and any(each.arg == "principal" for each in node.args.args)
    )


def _verb(node: ast.stmt) -> ast.FunctionDef:
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    arguments = node.args
    arguments.args = [each for each in arguments.args if each.arg != "principal"]
    for each in (*arguments.args, *arguments.kwonlyargs, *filter(None, (arguments.vararg, arguments.kwarg))):
        each.annotation = _renamed(_unquoted(each.annotation), dict.fromkeys(IDS, "str"))
    arguments.defaults = [_shown(default) for default in arguments.defaults]
    arguments.kw_defaults = [default and _shown(default) for default in arguments.kw_defaults]
    documentation = ast.get_docstring(node, clean=False)
    body: list[ast.stmt] = [ast.Expr(ast.Constant(documentation))] if documentation else []
    verb = ast.FunctionDef(
        name=node.name,
        args=arguments,
        body=[*body, ast.Expr(ast.Constant(...))],
        decorator_list=[],
        returns=_renamed(_unquoted(node.returns), {"AsyncIterator": "Iterator"}),
    )
    return ast.fix_missing_locations(verb)


def _unquoted(annotation: ast.expr | None) -> ast.expr | None:
    """The service quotes what it imports late; nothing is late here."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return ast.parse(annotation.value, mode="eval").body
    return annotation


def _renamed(annotation: ast.expr | None, names: Mapping[str, str]) -> ast.expr | None:
    for node in ast.walk(annotation) if annotation is not None else ():
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return annotation


def _shown(default: ast.expr) -> ast.expr:
    """Plain values are shown; others would have to be computed."""
    return default if isinstance(default, ast.Constant) else ast.Constant(...)


def _imports(tree: ast.Module, module: str, used: set[str]) -> Iterator[str]:
    """An import for every name that the module imports or defines and that is used."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) in used:
                    yield f"from {node.module} import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
        elif isinstance(node, ast.ClassDef) and node.name in used:
            yield f"from {module} import {node.name}"
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in used:
            yield f"from {module} import {node.targets[0].id}"


def _formatted(text: str) -> str:
    ruff, name = str(Path(sys.executable).with_name("ruff")), ("--stdin-filename", str(OUTPUT), "-")
    for work in (("check", "--quiet", "--fix-only", "--select", "I,F401"), ("format", "--quiet")):
        text = subprocess.run([ruff, *work, *name], input=text, stdout=subprocess.PIPE, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    main()

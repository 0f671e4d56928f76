"""Nodes that ask a source: `sql`, `cypher`, `tool` and `ask`."""

from answerable.agents.ask_step import AskStep
from answerable.agents.model_descriptors import TOOL
from answerable.agents.tool_arguments import ARGUMENTS, GIVES_ROWS
from answerable.core.errors import UserError
from answerable.core.yaml_text import did_you_mean
from answerable.engine.steps.cypher import CypherStep
from answerable.engine.steps.sql import SqlStep
from answerable.engine.templates import references
from answerable.graphs import types
from answerable.graphs.definition import AskNode, CypherNode, SqlNode, ToolNode
from answerable.graphs.forms.form import Around, Form, templates, values_in


def sql(node: SqlNode, around: Around) -> Form:
    source = around.source(node.source)
    _check_literals(node.sql, "SQL", around, "sql")
    config = {"source": source, "sql": node.sql}
    return Form(SqlStep.descriptor, config, templates(sql=node.sql), types.TABLE, source)


def cypher(node: CypherNode, around: Around) -> Form:
    source = around.source(node.source)
    _check_literals(node.cypher, "Cypher", around, "cypher")
    config = {"source": source, "cypher": node.cypher}
    return Form(CypherStep.descriptor, config, templates(cypher=node.cypher), types.TABLE, source)


def tool(node: ToolNode, around: Around) -> Form:
    source = around.source(node.source)
    known = ARGUMENTS[node.tool].model_fields
    for name in node.arguments:
        if name not in known:
            hint = did_you_mean(name, known) or f"It takes: {', '.join(known) or 'none'}."
            raise around.error(("arguments", name), f"`{node.tool}` has no such argument", hint)
    missing = next((name for name, each in known.items() if each.is_required() and name not in node.arguments), None)
    if missing is not None:
        raise around.error((), f"`{node.tool}` needs the argument `{missing}`")
    config = {"tool": node.tool, "source": source, "arguments": dict(node.arguments)}
    gives = types.TABLE if node.tool in GIVES_ROWS else types.object_of(result=types.ANYTHING)
    return Form(TOOL, config, values_in(arguments=node.arguments), gives, source)


def ask(node: AskNode, around: Around) -> Form:
    sources = [around.source(each) for each in (node.sources or (node.source or around.world.default_source,))]
    config = {"question": node.question, "sources": sources, "mode": node.mode, "force": node.force}
    return Form(AskStep.descriptor, config, templates(question=node.question), types.ANSWER)


def _check_literals(query: str, language: str, around: Around, field: str) -> None:
    try:
        found = list(references(query))
    except UserError as error:
        raise around.error((field,), error.message.rstrip("."), error.hint) from error
    for each in found:
        schema = around.compiling.schema(each, around.schemas, (*around.place, field))
        if types.type_of(schema) == "object":
            raise around.error((field,), f"`{each}` is an object, and {language} can hold only plain values")

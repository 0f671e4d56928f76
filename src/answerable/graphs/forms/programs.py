"""Nodes that compute, call and ask models: `transform`, `python`, `api` and `agent`."""

from collections.abc import Mapping
from string import ascii_lowercase

from answerable.agents.model_descriptors import AGENT
from answerable.core.values import Json
from answerable.core.yaml_text import did_you_mean
from answerable.engine.steps.api import ApiStep
from answerable.engine.steps.python import PythonStep
from answerable.engine.steps.transform import TransformStep
from answerable.engine.templates import with_references
from answerable.graphs import types
from answerable.graphs.definition import AgentNode, ApiNode, PythonNode, TransformNode
from answerable.graphs.expressions import program_of
from answerable.graphs.forms.form import Around, Form, templates, values_in, written_schema
from answerable.graphs.types import check_written


def transform(node: TransformNode, around: Around) -> Form:
    kind = TransformStep.descriptor
    if node.expression is not None:
        code, values = program_of(node.expression, around.parents)
        return Form(kind, {"expression": code, "values": values}, values_in(values=values))
    if node.template is not None:
        return Form(kind, {"value": node.template}, templates(value=node.template), types.TEXT)
    return Form(kind, {"value": node.value}, values_in(value=node.value), written_schema(node.value, around.schemas))


def python(node: PythonNode, around: Around) -> Form:
    clashing = next((name for name in node.values if name in around.parents), None)
    if clashing is not None:
        raise around.error(("values", clashing), "a node before this one has the same name")
    frames = [parent for parent in around.parents if around.schemas[parent] == types.TABLE]
    config = {"code": node.code, "values": dict(node.values), "frames": frames}
    config |= {name: said for name in ("backend", "api") if (said := getattr(node, name)) is not None}
    # What a program does before it is killed is not known, so its calls are not recognised when it runs again.
    writes = node.api is not None and "POST" in _settings(node.api, around).get("methods", ())
    return Form(
        PythonStep.descriptor,
        config,
        values_in(values=node.values),
        types.TABLE,
        effect=writes if node.effect is None else node.effect == "write",
    )


def api(node: ApiNode, around: Around) -> Form:
    settings = _settings(node.api, around)
    allowed = settings.get("methods", ("GET",))
    if node.method not in allowed:
        field = "method" if "method" in node.model_fields_set else "api"
        raise around.error((field,), f"`{node.api}` may be called with {', '.join(allowed)} only")
    config = node.model_dump(mode="json", include={"api", "method", "path", "params", "body", "all_pages"})
    bind = templates(path=node.path) | values_in(params=node.params, body=node.body)
    writes = node.method == "POST" if node.effect is None else node.effect == "write"
    return Form(
        ApiStep.descriptor,
        config,
        bind,
        types.object_of(data=types.ANYTHING),
        f"api {node.api}",
        effect=writes,
        idempotent=writes and settings.get("idempotency_header") is not None,
    )


def _settings(name: str, around: Around) -> Mapping[str, Json]:
    apis = around.world.apis
    if name not in apis:
        hint = did_you_mean(name, apis) or "APIs are named under `apis` in the settings."
        raise around.error(("api",), f"there is no API `{name}`", hint)
    return apis[name]


def agent(node: AgentNode, around: Around) -> Form:
    source = around.source(node.source) if node.source is not None else None
    if node.agent is not None:
        return _named_agent(node.agent, node, source, around)
    if node.tools and source is None:
        raise around.error(("tools",), "its tools read a source", "Name it: `source`.")
    if node.output is not None:
        check_written(node.output, (*around.place, "output"), around.compiling.marks)
    written, inputs = _written_agent(around.place[-1], node)
    config = {"agent": written["name"], "written": written, "inputs": inputs, "source": source}
    gives = types.object_of(reply=node.output or types.TEXT)
    return Form(AGENT, config, values_in(inputs=inputs), gives)


def _named_agent(name: str, node: AgentNode, source: str | None, around: Around) -> Form:
    named, gives = around.world.agents.get(name), types.ANYTHING
    config: dict[str, Json] = {"agent": name, "inputs": dict(node.inputs), "source": source}
    if named is not None:
        config |= named.config
        gives = dict(named.folder.output) if named.folder.output is not None else types.TEXT
        if wrong := sorted(set(node.inputs) ^ set(named.folder.variables)):
            known = ", ".join(named.folder.variables) or "none"
            raise around.error(
                ("inputs",),
                f"the agent `{name}` and this node disagree about: {', '.join(wrong)}",
                f"Its inputs are: {known}.",
            )
        if named.folder.tools and source is None:
            raise around.error(("agent",), f"the tools of `{name}` read a source", "Name it: `source`.")
    return Form(AGENT, config, values_in(inputs=node.inputs), types.object_of(reply=gives))


def _written_agent(id: str | int, node: AgentNode) -> tuple[dict[str, Json], dict[str, str]]:
    """An agent that is written into the graph, and its inputs: each reference in its prompt becomes an input, so that
    outputs reach the model quoted, as data."""
    inputs: dict[str, str] = {}

    def placeholder(reference: str) -> str:
        name = "value_" + "".join(ascii_lowercase[int(digit)] for digit in str(len(inputs)))
        inputs[name] = f"{{{{{reference}}}}}"
        return f"{{{{{name}}}}}"

    message = with_references(node.prompt or "", placeholder)
    sampling = ("temperature", "top_p", "frequency_penalty", "presence_penalty", "model", "output")
    written: dict[str, Json] = {
        "name": f"agent_{id}".lower()[:64],
        "role": node.role,
        "description": f"The agent of the node {id}.",
        "output_tokens": node.max_tokens,
        "tools": list(node.tools),
        "variables": dict.fromkeys(inputs, ""),
        "instructions": node.instructions,
        "message": message,
    }
    written |= {name: said for name in sampling if (said := getattr(node, name)) is not None}
    return written, inputs

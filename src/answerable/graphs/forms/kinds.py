"""Which function makes the form of which kind of node."""

from collections.abc import Callable, Mapping
from typing import Any

from answerable.graphs import definition
from answerable.graphs.definition import CommonNode
from answerable.graphs.forms import flow, programs, queries, waiting
from answerable.graphs.forms.form import Around, Form

FORMS: Mapping[type[CommonNode], Callable[[Any, Around], Form]] = {
    definition.SqlNode: queries.sql,
    definition.CypherNode: queries.cypher,
    definition.ToolNode: queries.tool,
    definition.AskNode: queries.ask,
    definition.PythonNode: programs.python,
    definition.ApiNode: programs.api,
    definition.TransformNode: programs.transform,
    definition.RouterNode: flow.router,
    definition.MapNode: flow.map_over,
    definition.JoinNode: flow.join,
    definition.LoopNode: flow.loop,
    definition.ApprovalNode: waiting.approval,
    definition.WaitNode: waiting.wait,
    definition.EmitNode: waiting.emit,
    definition.RaiseNode: waiting.raising,
    definition.SubgraphNode: flow.subgraph,
    definition.AgentNode: programs.agent,
}

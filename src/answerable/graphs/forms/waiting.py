"""Nodes that wait for people and events, tell of events, and fail: `approval`, `wait`, `emit` and `raise`."""

from answerable.engine.steps.approval import ApprovalStep
from answerable.engine.steps.emit import EmitStep
from answerable.engine.steps.raised import RaiseStep
from answerable.engine.steps.wait import WaitStep
from answerable.graphs import types
from answerable.graphs.definition import ApprovalNode, EmitNode, RaiseNode, WaitNode
from answerable.graphs.forms.form import Around, Form, templates, values_in
from answerable.graphs.types import Schema


def approval(node: ApprovalNode, _around: Around) -> Form:
    config = node.model_dump(mode="json", include={"prompt", "show", "rejected", "deadline", "default"})
    bind = values_in(show=node.show) | templates(prompt=node.prompt)
    decision: Schema = {"type": "string", "enum": ["approve", "reject", "edit", "respond"]}
    gives = types.object_of(decision=decision, by={}, note={}, data={})
    return Form(ApprovalStep.descriptor, config, bind, gives)


def wait(node: WaitNode, _around: Around) -> Form:
    fields = {"event", "within", "missed"} if node.event is not None else {"seconds", "until"}
    config = node.model_dump(mode="json", include=fields, exclude_none=True)
    if node.event is None:
        return Form(WaitStep.descriptor, config, gives=types.object_of(until=types.TEXT))
    gives = types.object_of(event=types.TEXT, data=types.ANYTHING, by={})
    return Form(WaitStep.descriptor, config, templates(event=node.event), gives)


def emit(node: EmitNode, _around: Around) -> Form:
    config = {"event": node.event, "data": node.data}
    bind = templates(event=node.event) | values_in(data=node.data)
    return Form(EmitStep.descriptor, config, bind, types.object_of(event=types.TEXT, runs=types.list_of(types.TEXT)))


def raising(node: RaiseNode, _around: Around) -> Form:
    return Form(RaiseStep.descriptor, {"message": node.message}, templates(message=node.message))

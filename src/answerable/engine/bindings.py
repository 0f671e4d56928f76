"""A guard that fills the templates in a node's config from the outputs of the nodes before it.

A drawn graph says `select … where day = {{ input.day }}`; the kind `sql` sees a finished statement. So no kind needs to
know about templates, and the journal shows the kind that really ran.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from answerable.answers.result_rows import RecentRows, ResultRows
from answerable.core.context import Principal
from answerable.core.errors import LimitError
from answerable.core.values import FrameRef, Json
from answerable.engine.graph import Filling, Node
from answerable.engine.guards import Call
from answerable.engine.steps.base import Step
from answerable.engine.templates import Reference, filled, references
from answerable.engine.value_size import LARGEST_FILLED, too_large
from answerable.store.base import Artifacts

MOST_ROWS = 10_000
"""Rows of a table that templates can refer to. More belong into SQL or a program."""
Scope: TypeAlias = Mapping[str, Json]


class Bindings:
    def __init__(self, artifacts: Artifacts, recent: RecentRows) -> None:
        self._artifacts = artifacts
        self._recent = recent

    def __call__(self, node: Node, call: Call) -> Call:
        if not node.bind:
            return call

        async def bound(step: Step) -> Json:
            wanted = [each for field in node.bind for each in references(node.config.get(field))]
            scope = await self.scope(step.inputs, wanted, step.context.principal)
            step.node = node.model_copy(update={"config": bound_config(node.config, node.bind, scope)})
            return await call(step)

        return bound

    async def scope(self, inputs: Mapping[Any, Json], wanted: Iterable[Reference], principal: Principal) -> Scope:
        """The outputs as templates see them. Rows are read only if a reference needs them."""
        needs_rows = {each.name for each in wanted if not each.path or each.path[0] in ("rows", "value")}
        return {
            name: await self._table(name, output, principal, name in needs_rows) if is_table(output) else output
            for name, output in inputs.items()
        }

    async def _table(self, name: str, output: Json, principal: Principal, with_rows: bool) -> Json:
        frame = FrameRef.model_validate(output["frame"])
        names = [column.name for column in frame.columns]
        # What an answer says beside its rows, such as its text, stays within reach.
        said = {key: output[key] for key in ("text", "status", "kind") if key in output}
        table: dict[str, Json] = {**said, "row_count": frame.row_count, "columns": names}
        if with_rows:
            if frame.row_count > MOST_ROWS:
                raise LimitError(
                    f"`{name}` has {frame.row_count:,} rows; templates and maps take {MOST_ROWS:,} at most.",
                    code="rows_too_many",
                    hint="Narrow the query, or work on the rows in a `python` node.",
                )
            if frame.byte_count > LARGEST_FILLED:
                raise too_large(f"`{name}`, with its rows,", LARGEST_FILLED)
            path = await self._artifacts.path(principal, frame.artifact)
            rows = await asyncio.to_thread(ResultRows(path, self._recent.of(frame.artifact)).whole, MOST_ROWS)
            table["rows"] = [dict(zip(names, row, strict=True)) for row in rows]
            table["value"] = rows[0][0] if rows and names else None
        return table


def bound_config(config: Json, bind: Mapping[str, Filling], scope: Scope) -> Json:
    return {field: filled(each, bind[field], scope) if field in bind else each for field, each in config.items()}


def is_table(output: Json) -> bool:
    """Whether an output refers to stored rows."""
    return isinstance(output, dict) and isinstance(output.get("frame"), dict) and "artifact" in output["frame"]

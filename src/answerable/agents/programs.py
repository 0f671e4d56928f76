"""Kind `program`: finds which tables a program names, and builds the graph that loads them and runs the program.

A program has no access to sources. The names that it uses and never sets are looked up: tables of the sources by their
own names, and `previous`, the rows of the thread's last answer. A table that two sources have is named `source_table`.
"""

import ast
import builtins
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from answerable.agents.execution_plan import ExecutionPlan, PlanStep, plan_graph
from answerable.agents.federation import SourceLookup
from answerable.agents.run_policy import RunPolicy
from answerable.answers.capsule import read_capsule
from answerable.core.context import RunContext
from answerable.core.errors import UserError
from answerable.core.values import Frozen, Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.engine.steps.sql import SqlStep
from answerable.engine.steps.understand import RoutedGraph
from answerable.store.base import Capsules

if TYPE_CHECKING:
    from answerable.query.merged import Origin

PREVIOUS = "previous"
_PROGRAM = "program"
_API_FUNCTIONS = frozenset(("api_get", "api_post"))


class ProgramConfig(Frozen):
    code: str
    source: str
    sources: tuple[str, ...] = ()
    """All sources, if there are several; `source` is the first of them. Empty for a single source."""
    question: str = ""


class ProgramStep:
    descriptor = StepDescriptor(name="program", config=ProgramConfig, produces="graph", looks_into_source=True)

    def __init__(self, sources: SourceLookup, capsules: Capsules, policy: RunPolicy, apis: Sequence[str] = ()) -> None:
        """`apis`: the names of the configured APIs. A program that calls `api_get` gets the only one."""
        self._sources = sources
        self._capsules = capsules
        self._policy = policy
        self._apis = apis

    async def run(self, step: Step) -> Json:
        config = step.config_as(ProgramConfig)
        wanted = free_names(config.code)
        steps = [_loaded(name, origin) for name, origin in (await self._tables(config, wanted, step)).items()]
        tables = [each.id for each in steps]
        # A table that is called `previous` takes precedence, so that every table can be used under its own name.
        if PREVIOUS in wanted and PREVIOUS not in tables:
            steps.append(await self._previous(step.context))
        names = tuple(each.id for each in steps)
        api = self._api() if not wanted.isdisjoint(_API_FUNCTIONS) else None
        # The program runs last, after all tables that it names are loaded.
        steps.append(PlanStep(id=_unused(names), tool="python", code=config.code, after=names, api=api))
        plan = ExecutionPlan(question=config.question, steps=tuple(steps))
        return RoutedGraph(self._policy.applied(plan_graph(plan, config.source, one_query=True))).as_json()

    async def _tables(self, config: ProgramConfig, wanted: frozenset[str], step: Step) -> Mapping[str, "Origin"]:
        """The tables that the program names."""
        from answerable.query.merged import Origin
        from answerable.query.sql.split_sql import ambiguous, meant

        principal, progress = step.context.principal, step.reporter()
        if not config.sources:
            catalog = await (await self._sources.get(config.source, principal)).describe(progress)
            named = [table.name for table in catalog.tables if table.name in wanted]
            return {name: Origin(config.source, name, catalog.dialect) for name in named}
        merged = await (await self._sources.federated(config.sources, principal)).merged(progress)
        for name in sorted(wanted):
            if len(alike := meant(name, merged)) > 1:
                raise ambiguous(name, alike)
        return {name: origin for name, origin in merged.origins.items() if name in wanted}

    def _api(self) -> str:
        if len(self._apis) == 1:
            return self._apis[0]
        configured = ", ".join(self._apis) or "none"
        raise UserError(
            f"A program by itself can use an API only if there is exactly one; there are: {configured}.",
            code="api_unknown",
            hint="Write a plan whose step names it: `api: NAME`.",
        )

    async def _previous(self, context: RunContext) -> PlanStep:
        """Runs the last query of the thread again, so that the new answer shows where its rows come from."""
        last = await self._capsules.latest(context.principal, context.thread) if context.thread else None
        steps = read_capsule(last.body).answer.steps if last else ()
        # A query only: the rows of a program or a join cannot be had again with a single step.
        query = next((each for each in reversed(steps) if each.kind == SqlStep.descriptor.name), None)
        if query is None:
            raise UserError(
                f"There is no earlier answer whose rows could be `{PREVIOUS}`.",
                code="previous_missing",
                hint="Ask for them first, and go on in the same thread.",
            )
        return PlanStep(id=PREVIOUS, tool="sql", source=query.source, code=query.code)


def free_names(code: str) -> frozenset[str]:
    """Names that the program uses and never sets."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()  # the sandbox refuses this text later, with the line that is wrong
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    read = {name.id for name in names if isinstance(name.ctx, ast.Load)}
    return frozenset(read - {name.id for name in names if isinstance(name.ctx, ast.Store)} - set(dir(builtins)))


def _loaded(name: str, origin: "Origin") -> PlanStep:
    from sqlglot import exp

    # Built as a tree and quoted, because names of tables come from the data and may hold anything.
    query = exp.select("*").from_(exp.table_(origin.table, quoted=True))
    return PlanStep(id=name, tool="sql", source=origin.source, code=query.sql(dialect=origin.dialect))


def _unused(names: tuple[str, ...]) -> str:
    return _PROGRAM if _PROGRAM not in names else f"{_PROGRAM}_"

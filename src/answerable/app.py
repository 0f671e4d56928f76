"""The composition root: the one place that knows every part and puts them together. Open this file first."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from answerable.agents.ask_step import AskStep
from answerable.agents.dependencies import AgentDependencies
from answerable.agents.model_kinds import model_kinds
from answerable.agents.programs import ProgramStep
from answerable.agents.reachable_apis import ApiHelp, ReachableApis
from answerable.agents.readers import Readers
from answerable.agents.routing import RoutingTable
from answerable.agents.run_policy import RunPolicy
from answerable.agents.runtime import Agents, ModelGateway
from answerable.agents.statements import StatementStep
from answerable.answers.result_rows import RecentRows
from answerable.apis.configured import ConfiguredApis
from answerable.computing.processes import ComputingProcesses
from answerable.core.clock import Clock, SystemClock
from answerable.core.context import HOME_TENANT
from answerable.core.hidden_paths import HiddenPaths
from answerable.core.records import dataclass
from answerable.engine.bindings import Bindings
from answerable.engine.guards import Guard, HidePaths, default_guards
from answerable.engine.run import Engine, Listener
from answerable.engine.shared_breakers import SharedBreakers
from answerable.engine.steps.api import ApiStep
from answerable.engine.steps.approval import ApprovalStep
from answerable.engine.steps.combine import CombineStep
from answerable.engine.steps.cypher import CypherStep
from answerable.engine.steps.descriptor import DescribedStepKind, StepDescriptor, by_name
from answerable.engine.steps.emit import EmitStep, Signals
from answerable.engine.steps.graph_answer import GraphAnswerStep
from answerable.engine.steps.join import JoinOutputsStep
from answerable.engine.steps.literal import LiteralStep
from answerable.engine.steps.loop import LoopStep
from answerable.engine.steps.map import MapStep
from answerable.engine.steps.present import PresentStep
from answerable.engine.steps.python import PythonStep
from answerable.engine.steps.raised import RaiseStep
from answerable.engine.steps.router import RouterStep
from answerable.engine.steps.sql import SqlStep
from answerable.engine.steps.subgraph import SubgraphStep
from answerable.engine.steps.transform import TransformStep
from answerable.engine.steps.understand import UnderstandStep
from answerable.engine.steps.wait import WaitStep
from answerable.engine.turns import Turns
from answerable.isolation.own_folder import remove_abandoned
from answerable.logs import log_run_end
from answerable.models.config import ModelsConfig
from answerable.models.current import CurrentModels
from answerable.okta import event_types
from answerable.protection.personal.redaction import Redaction
from answerable.sandbox.open import Sandboxes
from answerable.service import Service
from answerable.service.answers import AnswerService
from answerable.service.personal import PersonalData
from answerable.service.process_role import COMMAND, ProcessRole
from answerable.service.questions import QuestionService
from answerable.service.run_carrier import RunCarrier
from answerable.service.runs import RunService
from answerable.settings import Settings
from answerable.sources.base import Limits
from answerable.sources.registry import SourceRegistry
from answerable.sources.sql.frames import query_frames
from answerable.store.base import Store
from answerable.store.open import open_store

if TYPE_CHECKING:
    from answerable.models.tape import Tape
    from answerable.protection.content.content_filter import ContentFilter


@asynccontextmanager
async def open_service(
    settings: Settings,
    *,
    any_location: bool,
    role: ProcessRole = COMMAND,
    clock: Clock | None = None,
    listeners: Sequence[Listener] = (),
    sources: SourceRegistry | None = None,
    empty_store: bool = False,
    tape: "Tape | None" = None,
    models: CurrentModels | None = None,
) -> AsyncIterator[Service]:
    """Opens every part and puts them together. `any_location`: whether a question may name a path or URL as its source;
    `sources`: those that are open already; `empty_store`: whether to use a store in memory instead of the configured
    one; `tape`: receives what is sent to models and what they reply; `models`: those that another service of this
    process has set."""
    clock = clock or SystemClock()
    models = models or CurrentModels(settings.models_config, settings.share_rows, settings.share_personal)
    remove_abandoned()
    store = await (open_store(":memory:", clock=clock) if empty_store else _configured_store(settings, clock))
    for_runs = store.patient if role.patient and store.patient is not None else store
    content = _content_filter(settings)
    shared = SharedParts(
        clock=clock,
        store=for_runs,
        sources=sources or settings.open_sources(any_location=any_location),
        agents=_agents(settings, models, for_runs, clock, tape, content),
        sandboxes=Sandboxes(settings.sandbox_options),
        apis=ConfiguredApis(settings.apis, clock),
        computing=ComputingProcesses(role.computing_processes),
        recent_rows=RecentRows(),
        models=models,
        content=content,
        hidden=settings.hidden_paths if role.hides_paths else HiddenPaths(),
    )
    steps = _step_parts(settings, role, shared)
    kinds, dependencies = steps.kinds(), steps.dependencies
    carrier = _carrier(settings, role, shared, kinds, store, listeners)
    personal = PersonalData(settings.personal_policy, settings.cache / "redacted")
    runs = RunService(store, carrier, steps.descriptors, personal)
    service = Service(
        store=store,
        registry=shared.sources,
        runs=runs,
        questions=QuestionService(
            runs, shared.sources, dependencies.readers, settings.source, dependencies.policy, content
        ),
        readers=dependencies.readers,
        answers=AnswerService(store, runs, shared.sources, dependencies.sql, kinds, shared.hidden, personal),
        agents=dependencies.agents,
        models=models,
        policy=dependencies.policy,
        step_kinds=tuple(steps.descriptors.values()),
        sandboxes=shared.sandboxes,
        settings=settings,
        clock=clock,
        any_location=any_location,
        open_in_memory=lambda: open_service(
            settings,
            any_location=True,
            role=ProcessRole(hides_paths=role.hides_paths),
            empty_store=True,
            models=models,
        ),
        hidden=shared.hidden,
        subscribers=dict.fromkeys(("run.finished", "run.failed", "run.cancelled"), (log_run_end,)),
    )
    # looked up when an event is sent: most runs need nothing of drawn graphs
    steps.signals.send = lambda event, data, context: service.graphs.emit(event, data, context)
    try:
        if shared.sources.access(HOME_TENANT).is_on:
            await service.identity.refresh(HOME_TENANT)
            service.providers.offered()  # a mistake in their configuration stops the start
        yield service
    finally:
        await service.close()
        await shared.close()


@dataclass(frozen=True, slots=True)
class SharedParts:
    """What several kinds of steps use, opened once."""

    clock: Clock
    store: Store
    sources: SourceRegistry
    agents: Agents
    sandboxes: Sandboxes
    apis: ConfiguredApis
    computing: ComputingProcesses
    recent_rows: RecentRows
    models: CurrentModels
    content: "ContentFilter | None"
    hidden: HiddenPaths
    """What errors leave out before anybody reads them."""

    async def close(self) -> None:
        """Closes what only steps use. The service closes the store and the sources."""
        for part in (self.computing, self.sandboxes, self.apis, self.agents, self.content):
            if part is not None:
                await part.close()


def _carrier(
    settings: Settings,
    role: ProcessRole,
    shared: SharedParts,
    kinds: Mapping[str, DescribedStepKind],
    store: Store,
    listeners: Sequence[Listener],
) -> RunCarrier:
    """What carries out runs, with the engine inside. `store`: the one that does not wait."""
    turns = Turns(role.working_at_once)
    guards = _guards(settings, role, shared, SharedBreakers(store.breakers, shared.clock))
    return RunCarrier(
        store,
        Engine(kinds, shared.store.events, shared.clock, guards, turns),
        shared.clock,
        {name: kind.descriptor for name, kind in kinds.items()},
        listeners,
        turns=turns,
        hidden=shared.hidden,
        role=role,
        most_of_tenant=settings.graph_runs_per_tenant,
    )


def _guards(settings: Settings, role: ProcessRole, shared: SharedParts, breakers: SharedBreakers) -> tuple[Guard, ...]:
    """What stands around every step, from the outside in."""
    usual = default_guards(
        shared.clock,
        failures=settings.breaker_failures,
        cooldown=settings.breaker_seconds,
        patient=role.patient,
        shared=breakers,
    )
    guards = (Bindings(shared.store.artifacts, shared.recent_rows), *usual)
    return (HidePaths(shared.hidden), *guards) if role.hides_paths else guards


def _step_parts(settings: Settings, role: ProcessRole, shared: SharedParts) -> "StepParts":
    descriptors: dict[str, StepDescriptor] = {}
    dependencies = _agent_dependencies(settings, shared, descriptors)
    seconds = settings.sandbox_seconds
    return StepParts(dependencies, shared, role, settings.history_window, descriptors, seconds, Signals())


def _agent_dependencies(
    settings: Settings, shared: SharedParts, step_kinds: Mapping[str, StepDescriptor]
) -> AgentDependencies:
    limits = Limits(seconds=settings.query_seconds, memory_mb=settings.query_memory_mb, rows=settings.query_rows)
    artifacts, sources = shared.store.artifacts, shared.sources
    log = ApiHelp(event_types.LOG, event_types.told_categories, (event_types.get_detailed_events_from_keys,))
    apis = ReachableApis(shared.apis, sources, settings.sandbox_seconds, (log,))
    on_frames = partial(query_frames, places=sources.options.places)
    return AgentDependencies(
        agents=shared.agents,
        readers=Readers(sources, shared.clock, shared.computing),
        sources=sources,
        sql=SqlStep(sources, artifacts, limits, shared.recent_rows, shared.computing),
        cypher=CypherStep(sources, artifacts, limits, shared.recent_rows),
        combine=CombineStep(on_frames, artifacts, limits, shared.recent_rows),
        python=PythonStep(shared.sandboxes, artifacts, settings.sandbox_limits, apis),
        apis=apis,
        store=shared.store,
        clock=shared.clock,
        models=shared.models,
        preplan=settings.preplan,
        policy=RunPolicy(step_kinds, settings.step_attempts, settings.longest_step),
    )


@dataclass(frozen=True, slots=True)
class StepParts:
    """What step kinds are made of."""

    dependencies: AgentDependencies
    shared: SharedParts
    role: ProcessRole
    history_window: int
    descriptors: dict[str, StepDescriptor]
    """Of every kind, by its name. `kinds` fills it: some parts of a kind read the descriptors of all kinds."""
    api_seconds: float
    signals: Signals

    def kinds(self) -> Mapping[str, DescribedStepKind]:
        found = by_name(kind for row in STEP_KINDS for kind in row(self))
        self.descriptors.update({name: kind.descriptor for name, kind in found.items()})
        return found

    @property
    def store(self) -> Store:
        return self.shared.store

    @property
    def present(self) -> PresentStep:
        store, clock = self.store, self.shared.clock
        return PresentStep(store.artifacts, self.shared.recent_rows, store.capsules, clock, self.descriptors)


STEP_KINDS: tuple[Callable[[StepParts], Iterable[DescribedStepKind]], ...] = (
    lambda p: [UnderstandStep(RoutingTable(p.dependencies), p.store.threads, p.store.capsules, p.history_window)],
    lambda _: [SubgraphStep()],
    lambda p: [p.dependencies.sql],
    lambda p: [p.dependencies.cypher],
    lambda p: [p.dependencies.combine],
    lambda p: [p.dependencies.python],
    lambda _: [LiteralStep()],
    lambda p: [StatementStep(p.dependencies.sources, p.dependencies.policy)],
    lambda p: [ProgramStep(p.dependencies.sources, p.store.capsules, p.dependencies.policy, p.shared.apis.names)],
    lambda p: [p.present],
    lambda p: [AskStep(p.dependencies.policy)],
    lambda p: [TransformStep(p.shared.sandboxes)],
    lambda p: [RouterStep(), JoinOutputsStep(), MapStep(), LoopStep(), ApprovalStep(p.shared.clock)],
    lambda p: [WaitStep(p.shared.clock, leaves=p.role.patient), ApiStep(p.shared.apis, p.api_seconds)],
    lambda p: [EmitStep(p.signals), RaiseStep()],
    lambda p: [GraphAnswerStep(p.present, p.store.capsules, p.shared.clock)],
    lambda p: model_kinds(p.dependencies),
)
"""Every kind of step that a graph can have. A new kind is a file with a descriptor, and a row here."""


async def _configured_store(settings: Settings, clock: Clock) -> Store:
    settings.make_home()
    return await open_store(
        settings.store_url, artifacts=settings.artifacts, synchronous=settings.durability, clock=clock
    )


def _content_filter(settings: Settings) -> "ContentFilter | None":
    if not settings.content:
        return None
    from answerable.protection.content.content_filter import ContentFilter
    from answerable.protection.content.rules import parsed_rules

    return ContentFilter(parsed_rules(settings.content))


def _agents(
    settings: Settings,
    models: CurrentModels,
    store: Store,
    clock: Clock,
    tape: "Tape | None",
    content: "ContentFilter | None",
) -> Agents:
    def opened(config: ModelsConfig) -> ModelGateway:
        from answerable.models.gateway import Models  # brings the clients of providers, which only models need
        from answerable.models.tape import TapedModels

        policy = settings.personal_policy
        redaction = Redaction(policy.kinds) if policy.hides("prompts") else None
        gateway = Models(config, store.budgets, clock=clock, redaction=redaction, content=content)
        return gateway if tape is None else TapedModels(gateway, tape)

    return Agents(opened, models, places=settings.agent_places)

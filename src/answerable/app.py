"""The composition root: the one place that knows every part and puts them together. Open this file first."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from answerable.agents.dependencies import AgentDependencies
from answerable.agents.model_kinds import model_kinds
from answerable.agents.programs import ProgramStep
from answerable.agents.readers import Readers
from answerable.agents.routing import RoutingTable
from answerable.agents.run_policy import RunPolicy
from answerable.agents.runtime import Agents, ModelGateway
from answerable.agents.statements import StatementStep
from answerable.answers.result_rows import RecentRows
from answerable.apis.configured import ConfiguredApis
from answerable.computing.processes import ComputingProcesses
from answerable.core.clock import Clock, SystemClock
from answerable.engine.guards import default_guards
from answerable.engine.run import Engine, Listener
from answerable.engine.steps.combine import CombineStep
from answerable.engine.steps.descriptor import DescribedStepKind, StepDescriptor, by_name
from answerable.engine.steps.literal import LiteralStep
from answerable.engine.steps.present import PresentStep
from answerable.engine.steps.python import PythonStep
from answerable.engine.steps.sql import SqlStep
from answerable.engine.steps.subgraph import SubgraphStep
from answerable.engine.steps.understand import UnderstandStep
from answerable.engine.turns import Turns
from answerable.isolation.own_folder import remove_abandoned
from answerable.logs import log_run_end
from answerable.models.config import ModelsConfig
from answerable.sandbox.api_functions import ApiFunctions
from answerable.sandbox.open import Sandboxes
from answerable.service import Service
from answerable.service.answers import AnswerService
from answerable.service.questions import QuestionService
from answerable.service.runs import RunService
from answerable.settings import Settings
from answerable.sources.base import Limits
from answerable.sources.registry import SourceRegistry
from answerable.sources.sql.frames import query_frames
from answerable.store.base import Store
from answerable.store.open import open_store

if TYPE_CHECKING:
    from answerable.models.tape import Tape


@asynccontextmanager
async def open_service(
    settings: Settings,
    *,
    any_location: bool,
    clock: Clock | None = None,
    listeners: Sequence[Listener] = (),
    sources: SourceRegistry | None = None,
    empty_store: bool = False,
    tape: "Tape | None" = None,
    patient: bool = False,
    runs_at_once: int | None = None,
    processes: int = 0,
) -> AsyncIterator[Service]:
    """Opens every part and puts them together. `any_location`: whether a question may name a path or URL as its source;
    `sources`: those that are open already; `empty_store`: whether to use a store in memory instead of the configured
    one; `tape`: receives what is sent to models and what they reply; `patient`: whether runs wait for a store that is
    away, as in a process that stays; `runs_at_once`: how many runs work at the same time, None for any number;
    `processes`: how many processes may compute beside this one when many people ask."""
    clock = clock or SystemClock()
    remove_abandoned()
    store = await (open_store(":memory:") if empty_store else _configured_store(settings))
    for_runs = store.patient if patient and store.patient is not None else store
    sources = sources or settings.open_sources(any_location=any_location)
    limits = Limits(seconds=settings.query_seconds, memory_mb=settings.query_memory_mb, rows=settings.query_rows)
    sandboxes = Sandboxes(settings.sandbox_options)
    apis = ConfiguredApis(settings.apis, clock)
    step_kinds: dict[str, StepDescriptor] = {}  # filled below: some parts of a kind read the descriptors of all kinds
    computing = ComputingProcesses(processes)
    recent_rows = RecentRows()
    dependencies = AgentDependencies(
        agents=_agents(settings.models_config, for_runs, clock, tape),
        readers=Readers(sources, clock, computing),
        sources=sources,
        sql=SqlStep(sources, for_runs.artifacts, limits, recent_rows, computing),
        combine=CombineStep(
            partial(query_frames, places=sources.options.places), for_runs.artifacts, limits, recent_rows
        ),
        python=PythonStep(
            sandboxes, for_runs.artifacts, settings.sandbox_limits, ApiFunctions(apis, settings.sandbox_seconds)
        ),
        store=for_runs,
        clock=clock,
        share_rows=settings.share_rows,
        share_personal=settings.share_personal,
        preplan=settings.preplan,
        policy=RunPolicy(step_kinds, settings.step_attempts, settings.longest_step),
    )
    parts = StepParts(dependencies, apis, recent_rows, settings.history_window, step_kinds)
    kinds = by_name(kind for row in STEP_KINDS for kind in row(parts))
    step_kinds.update({name: kind.descriptor for name, kind in kinds.items()})
    guards = default_guards(
        clock, failures=settings.breaker_failures, cooldown=settings.breaker_seconds, patient=patient
    )
    turns = Turns(runs_at_once)
    engine = Engine(kinds, for_runs.events, clock, guards, turns)
    runs = RunService(store, engine, clock, step_kinds, listeners, turns=turns, patient=patient)
    service = Service(
        store=store,
        registry=sources,
        runs=runs,
        questions=QuestionService(runs, sources, dependencies.readers, settings.source, dependencies.policy),
        answers=AnswerService(store, runs, sources, dependencies.sql, kinds),
        step_kinds=tuple(step_kinds.values()),
        sandboxes=sandboxes,
        settings=settings,
        clock=clock,
        any_location=any_location,
        open_in_memory=lambda: open_service(settings, any_location=True, empty_store=True),
        subscribers=dict.fromkeys(("run.finished", "run.failed", "run.cancelled"), (log_run_end,)),
    )
    try:
        yield service
    finally:
        await service.close()
        await computing.close()
        await sandboxes.close()
        await apis.close()
        await dependencies.agents.close()


@dataclass(frozen=True, slots=True)
class StepParts:
    """What step kinds are made of."""

    dependencies: AgentDependencies
    apis: ConfiguredApis
    recent_rows: RecentRows
    history_window: int
    step_kinds: Mapping[str, StepDescriptor]

    @property
    def store(self) -> Store:
        return self.dependencies.store


STEP_KINDS: tuple[Callable[[StepParts], Iterable[DescribedStepKind]], ...] = (
    lambda p: [UnderstandStep(RoutingTable(p.dependencies), p.store.threads, p.store.capsules, p.history_window)],
    lambda _: [SubgraphStep()],
    lambda p: [p.dependencies.sql],
    lambda p: [p.dependencies.combine],
    lambda p: [p.dependencies.python],
    lambda _: [LiteralStep()],
    lambda p: [StatementStep(p.dependencies.sources, p.dependencies.policy)],
    lambda p: [ProgramStep(p.dependencies.sources, p.store.capsules, p.dependencies.policy, p.apis.names)],
    lambda p: [PresentStep(p.store.artifacts, p.recent_rows, p.store.capsules, p.dependencies.clock, p.step_kinds)],
    lambda p: model_kinds(p.dependencies),
)
"""Every kind of step that a graph can have. A new kind is a file with a descriptor, and a row here."""


async def _configured_store(settings: Settings) -> Store:
    settings.make_home()
    return await open_store(settings.store_url, artifacts=settings.artifacts, synchronous=settings.durability)


def _agents(config: ModelsConfig, store: Store, clock: Clock, tape: "Tape | None") -> Agents:
    def models() -> ModelGateway:
        from answerable.models.gateway import Models  # brings the clients of providers, which only models need
        from answerable.models.tape import TapedModels

        opened = Models(config, store.budgets, clock=clock)
        return opened if tape is None else TapedModels(opened, tape)

    return Agents(models, available=bool(config.named()))

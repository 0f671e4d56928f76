"""The composition root: the one place that knows every part and puts them together. Open this file first."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from answerable.agents.advice_steps import CriticStep, FormatStep
from answerable.agents.minds import Minds
from answerable.agents.programs import ProgramStep
from answerable.agents.react_step import ReactStep
from answerable.agents.reader_mind import ReaderMind
from answerable.agents.runtime import Agents, Models
from answerable.agents.write_combine import WriteCombineStep
from answerable.agents.write_steps import WritePythonStep, WriteSqlStep
from answerable.core.clock import Clock, SystemClock
from answerable.engine.run import Engine, Listener
from answerable.engine.steps.base import StepKind
from answerable.engine.steps.combine import CombineStep
from answerable.engine.steps.given import GivenStep
from answerable.engine.steps.present import PresentStep
from answerable.engine.steps.python import PythonStep
from answerable.engine.steps.sql import SqlStep
from answerable.engine.steps.subgraph import SubgraphStep
from answerable.engine.steps.understand import UnderstandStep
from answerable.models.config import ModelsConfig
from answerable.sandbox.apis import Apis
from answerable.sandbox.open import Sandboxes
from answerable.service import Service
from answerable.settings import Settings
from answerable.sources.base import Limits
from answerable.sources.frames import query_frames
from answerable.sources.registry import SourceRegistry
from answerable.store.base import Store
from answerable.store.open import open_store


@asynccontextmanager
async def open_service(
    settings: Settings,
    *,
    any_location: bool,
    clock: Clock | None = None,
    listeners: Sequence[Listener] = (),
    sources: SourceRegistry | None = None,
) -> AsyncIterator[Service]:
    """Everything, ready to be asked. `any_location`: whether a question may name a path or URL as its source;
    `sources`: where somebody has opened them already."""
    clock = clock or SystemClock()
    settings.home.mkdir(parents=True, exist_ok=True)
    store = await open_store(settings.store_url, artifacts=settings.artifacts, synchronous=settings.durability)
    sources = sources or settings.open_sources(any_location=any_location)
    limits = Limits(seconds=settings.query_seconds, memory_mb=settings.query_memory_mb, rows=settings.query_rows)
    reader = ReaderMind(sources, clock)
    config = settings.models_config
    agents = Agents(lambda: _models(config, store, clock), available=bool(config.named()))
    mind = Minds(reader, agents, sources, share_rows=settings.share_rows)
    sql = SqlStep(sources, store.artifacts, limits)
    sandboxes = Sandboxes(settings.sandbox_options)
    combine = CombineStep(query_frames, store.artifacts, limits)
    apis = Apis(settings.apis, clock, settings.sandbox_seconds)
    python = PythonStep(sandboxes, store.artifacts, settings.sandbox_limits, apis)
    kinds: dict[str, StepKind] = {
        "understand": UnderstandStep(mind, store.threads, store.capsules, settings.history_window),
        "subgraph": SubgraphStep(),
        "sql": sql,
        "combine": combine,
        "python": python,
        "write_sql": WriteSqlStep(agents, sources, reader, sql, share_rows=settings.share_rows),
        "write_combine": WriteCombineStep(agents, combine, clock, share_rows=settings.share_rows),
        "write_python": WritePythonStep(agents, python, clock, share_rows=settings.share_rows),
        "react": ReactStep(agents, sources, reader, sql, python, store.capsules, share_rows=settings.share_rows),
        "critic": CriticStep(agents, sources, reader, sql, store.artifacts, share_rows=settings.share_rows),
        "format": FormatStep(agents, store.artifacts, share_rows=settings.share_rows),
        "given": GivenStep(),
        "program": ProgramStep(sources, store.capsules, apis.names),
        "present": PresentStep(store.artifacts, store.capsules, store.events, clock),
    }
    engine = Engine(kinds, store.events, clock)
    service = Service(
        store=store,
        engine=engine,
        sources=sources,
        sql=sql,
        combine=combine,
        python=python,
        mind=reader,
        clock=clock,
        default_source=settings.source,
        listeners=listeners,
    )
    try:
        yield service
    finally:
        await service.close()
        await sandboxes.close()
        await apis.close()
        await agents.close()


def _models(config: ModelsConfig, store: Store, clock: Clock) -> Models:
    from answerable.models.gateway import Models  # brings the clients of providers, which only models need

    return Models(config, store.budgets, clock=clock)

"""What Answerable does for its users, by noun. The command line, the HTTP edge and the library call these verbs and
nothing else: they only translate."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from answerable.core.clock import Clock
from answerable.core.errors import AnswerableError, OperatorError
from answerable.core.hidden_paths import HiddenPaths
from answerable.engine.steps.descriptor import StepDescriptor
from answerable.sandbox.open import Sandboxes
from answerable.service.answers import AnswerService
from answerable.service.questions import QuestionService
from answerable.service.runs import RunService
from answerable.settings import Settings
from answerable.sources.registry import SourceRegistry
from answerable.store.base import Store

if TYPE_CHECKING:
    from answerable.agents.readers import Readers
    from answerable.agents.run_policy import RunPolicy
    from answerable.agents.runtime import Agents
    from answerable.identity.redis_sessions import RedisSessions
    from answerable.models.current import CurrentModels
    from answerable.protection.rates.base import RateCounts
    from answerable.service.access import AccessService
    from answerable.service.agents import AgentService
    from answerable.service.comparison import ComparisonService
    from answerable.service.evals import EvalService
    from answerable.service.exploring import ExploreService
    from answerable.service.graphs import GraphService
    from answerable.service.identity import IdentityService
    from answerable.service.keyed_requests import KeyedRequestService
    from answerable.service.keys import KeyService
    from answerable.service.learning import LearningService
    from answerable.service.measuring import OpenService
    from answerable.service.models import ModelService
    from answerable.service.okta import OktaService
    from answerable.service.okta_syncs import BackgroundSyncs
    from answerable.service.outbox import Handler, OutboxDelivery
    from answerable.service.plans import PlanService
    from answerable.service.programs import ProgramService
    from answerable.service.providers import ProviderService
    from answerable.service.retention import RetentionService
    from answerable.service.rows import RowService
    from answerable.service.rules import RulesService
    from answerable.service.schedules import ScheduleService
    from answerable.service.scim import ScimService
    from answerable.service.semantic import SemanticService
    from answerable.service.setup import SetupService
    from answerable.service.sources import SourceService
    from answerable.service.suggestions import SuggestionService
    from answerable.service.threads import ThreadService


READY_SECONDS = 1.0
LONGEST_CHECK = 3.0


class Service:
    """Put together by `answerable.app`. A noun that a single question does not need is loaded when it is first used, so
    that `answerable ask` starts quickly."""

    def __init__(
        self,
        *,
        store: Store,
        registry: SourceRegistry,
        runs: RunService,
        questions: QuestionService,
        readers: "Readers",
        answers: AnswerService,
        agents: "Agents",
        models: "CurrentModels",
        policy: "RunPolicy",
        step_kinds: tuple[StepDescriptor, ...],
        sandboxes: Sandboxes,
        settings: Settings,
        clock: Clock,
        any_location: bool,
        open_in_memory: "OpenService",
        subscribers: "Mapping[str, Sequence[Handler]]",
        hidden: HiddenPaths,
    ) -> None:
        """`any_location`: whether the caller is the person at the machine, who may name any path or URL as a source.
        `open_in_memory` opens another service whose store is in memory. `subscribers` get what the outbox delivers, by
        topic. `hidden`: what errors leave out."""
        self._store = store
        self._registry = registry
        self._readers = readers
        self._agents = agents
        self._models = models
        self._policy = policy
        self._sandboxes = sandboxes
        self._settings = settings
        self._clock = clock
        self._any_location = any_location
        self._open_in_memory = open_in_memory
        self._subscribers = subscribers
        self.hidden = hidden
        self._checked: asyncio.Future[None] | None = None
        self._checked_at = 0.0
        self.runs = runs
        self.questions = questions
        self.answers = answers
        self.step_kinds = step_kinds

    @cached_property
    def access(self) -> "AccessService":
        from answerable.service.access import AccessService

        return AccessService(self._registry, self._readers, self._clock)

    @cached_property
    def identity(self) -> "IdentityService":
        from answerable.service.identity import IdentityService

        session, identities = timedelta(minutes=self._settings.session_minutes), self._store.identities
        if self.redis_sessions is not None:
            identities = replace(identities, sessions=self.redis_sessions)
        return IdentityService(identities, self._registry, self._clock, session)

    @cached_property
    def redis_sessions(self) -> "RedisSessions | None":
        """Where sessions are kept, if not in the store."""
        if self._settings.sessions != "redis":
            return None
        from answerable.identity.redis_sessions import RedisSessions

        return RedisSessions(self._settings.redis, self._clock)

    @cached_property
    def providers(self) -> "ProviderService":
        from answerable.service.providers import ProviderService

        return ProviderService(self._settings.providers, self.identity, self._store.identities.flows, self._clock)

    @cached_property
    def scim(self) -> "ScimService":
        from answerable.service.scim import ScimService

        identities = self._store.identities
        return ScimService(self._settings.scim, self.identity, identities.users, identities.groups)

    @cached_property
    def rules(self) -> "RulesService":
        from answerable.service.rules import RulesService

        return RulesService(self._store.identities.records, self.identity, self._registry, self._clock)

    @cached_property
    def keys(self) -> "KeyService":
        from answerable.service.keys import KeyService

        return KeyService(self._store.identities.keys, self._registry, self._clock)

    @cached_property
    def sources(self) -> "SourceService":
        from answerable.service.sources import SourceService

        return SourceService(
            self._registry, self._settings, self._clock, any_location=self._any_location, hidden=self.hidden
        )

    @cached_property
    def okta(self) -> "OktaService":
        from answerable.service.okta import OktaService

        return OktaService(self.sources, self.questions, self.okta_syncs, self._settings, self._clock)

    @cached_property
    def okta_syncs(self) -> "BackgroundSyncs":
        from answerable.service.okta_syncs import BackgroundSyncs

        return BackgroundSyncs(self._settings.home, self._clock, lambda name, who: self.okta.sync(name, who))

    @cached_property
    def semantic(self) -> "SemanticService":
        from answerable.service.semantic import SemanticService

        return SemanticService(self._registry, self._store)

    @cached_property
    def suggestions(self) -> "SuggestionService":
        from answerable.service.suggestions import SuggestionService

        return SuggestionService(self._registry, self._readers, self.evals, self._settings)

    @cached_property
    def plans(self) -> "PlanService":
        from answerable.service.plans import PlanService

        return PlanService(self.runs, self._registry, self._policy)

    @cached_property
    def exploring(self) -> "ExploreService":
        from answerable.service.exploring import ExploreService

        return ExploreService(self._registry)

    @cached_property
    def threads(self) -> "ThreadService":
        from answerable.service.threads import ThreadService

        return ThreadService(self._store, self.runs, self._registry, self._clock)

    @cached_property
    def rows(self) -> "RowService":
        from answerable.service.rows import RowService

        return RowService(self.runs, self.answers, self._settings.cache / "views")

    @cached_property
    def comparisons(self) -> "ComparisonService":
        from answerable.service.comparison import ComparisonService

        return ComparisonService(self.runs, self.answers)

    @cached_property
    def evals(self) -> "EvalService":
        from answerable.service.evals import EvalService

        return EvalService(self._store, self._registry, self.questions, self.runs, self.answers, self._open_in_memory)

    @cached_property
    def graphs(self) -> "GraphService":
        from answerable.service.graphs import GraphService

        settings = self._settings
        return GraphService(
            self._store,
            self.runs,
            self._registry,
            default_source=settings.source,
            longest=settings.longest_step,
            apis=settings.apis,
            find_agent=lambda name, principal, version: self.agents.find(name, principal, version=version),
        )

    @cached_property
    def schedules(self) -> "ScheduleService":
        from answerable.service.schedules import ScheduleService

        return ScheduleService(self._store, self.graphs, self._clock)

    @cached_property
    def agents(self) -> "AgentService":
        from answerable.service.agents import AgentService

        return AgentService(self._store, self._agents, self.runs, self._registry, self._policy)

    @cached_property
    def learning(self) -> "LearningService":
        from answerable.service.learning import LearningService

        return LearningService(
            self.agents, self.answers, self.semantic, self._registry, self.questions.readers, self._models
        )

    @cached_property
    def keyed_requests(self) -> "KeyedRequestService":
        from answerable.service.keyed_requests import KeyedRequestService

        return KeyedRequestService(self._store, self._clock)

    @cached_property
    def rate_counts(self) -> "RateCounts":
        """Where requests are counted: in Redis if there is one, else in PostgreSQL if the store is there, else here."""
        from answerable.protection.rates.in_process import InProcessCounts

        own = InProcessCounts(self._clock)
        settings = self._settings
        if not settings.redis and not settings.has_shared_store:
            return own
        from answerable.protection.rates.in_redis import RedisCounts
        from answerable.protection.rates.in_store import StoreCounts
        from answerable.protection.rates.with_fallback import CountsWithFallback

        shared = RedisCounts(settings.redis) if settings.redis else StoreCounts(self._store.rates)
        return CountsWithFallback(shared, own)

    @cached_property
    def programs(self) -> "ProgramService":
        from answerable.service.programs import ProgramService

        return ProgramService(self._sandboxes, self._settings.sandbox_limits)

    @cached_property
    def setup(self) -> "SetupService":
        from answerable.service.setup import SetupService

        return SetupService(self._store, self._settings, self._models, self._clock, self.step_kinds)

    @cached_property
    def models(self) -> "ModelService":
        from answerable.service.models import ModelService

        return ModelService(self._settings, self._models, self._clock)

    @cached_property
    def outbox(self) -> "OutboxDelivery":
        from answerable.service.outbox import OutboxDelivery

        return OutboxDelivery(self._store, self._subscribers)

    @cached_property
    def retention(self) -> "RetentionService":
        from answerable.service.retention import RetentionService

        return RetentionService(self._store, self._settings, self.outbox, self._clock)

    async def check_ready(self) -> None:
        """Raises what keeps questions from being taken now. Looks at most once a second, however often it is called."""
        now = self._clock.monotonic()
        if self._checked is None or now - self._checked_at > READY_SECONDS:
            self._checked_at = now
            self._checked = asyncio.ensure_future(asyncio.wait_for(self._store.database.check(), LONGEST_CHECK))
        try:
            await asyncio.shield(self._checked)
        except TimeoutError:
            raise OperatorError(
                f"The store did not answer within {LONGEST_CHECK:.0f} s.",
                code="store_unavailable",
                hint="Look at the database server, and at the disk that it writes to.",
            ) from None

    def start_background_work(self) -> None:
        """Continues runs of processes that died, runs graphs and syncs that are due, delivers the outbox, and removes
        what the settings do not keep. For a process that stays, such as a server."""
        self.runs.carrier.keep_adopting()
        self.schedules.keep_running()
        self.okta_syncs.keep_looking()
        self.outbox.keep_delivering()
        self.retention.keep_pruning()

    async def close(self) -> None:
        """Stops running work without marking it as ended: the next process continues it."""
        used = vars(self)
        if "evals" in used:
            await self.evals.close()
        if "sources" in used:
            await self.sources.close()
        if "keyed_requests" in used:
            await self.keyed_requests.close()
        if "rate_counts" in used:
            await self.rate_counts.close()
        if used.get("redis_sessions") is not None:
            await used["redis_sessions"].close()
        if "schedules" in used:
            await self.schedules.close()
        if "okta_syncs" in used:
            await self.okta_syncs.close()
        if "providers" in used:
            await self.providers.close()
        if "retention" in used:
            await self.retention.close()
        if "outbox" in used:
            await self.outbox.close()
        await self.runs.carrier.close()
        if self.runs.carrier.ended_any:
            # Whoever ends a run announces it: perhaps no server ever uses this store.
            with suppress(AnswerableError):  # what cannot be announced now stays in the store for the next process
                await self.outbox.deliver()
        await self._registry.close()
        await self._store.close()

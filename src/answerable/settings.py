"""Every setting, with its default and its meaning, in one place.

A setting comes from the environment (`ANSWERABLE_PORT=9000`), else from `settings.yaml` in the home folder, else from
its default. An unknown name or a wrong value stops the start with a sentence; nothing is read again later.
"""

import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, PrivateAttr, SecretStr, ValidationError, field_validator

from answerable.core.context import Principal
from answerable.core.errors import OperatorError
from answerable.core.hidden_paths import HiddenPaths
from answerable.core.validation import first_problem
from answerable.core.values import Frozen
from answerable.protection.personal.places import PersonalPolicy, parsed_policy
from answerable.protection.rates.rules import RateRule, parsed_rules
from answerable.protection.waf.modes import WafRule, parsed_modes
from answerable.sandbox.base import SandboxLimits
from answerable.sandbox.open import SandboxOptions

if TYPE_CHECKING:
    from answerable.models.config import ModelsConfig
    from answerable.sources.added import AddedSources
    from answerable.sources.registry import SourceRegistry
    from answerable.sources.sql.postgres_access import AllowedHosts

PREFIX = "ANSWERABLE_"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
DEFAULT_RATES = "user 1200/minute, address 1200/minute"
_FILE_ONLY = ("apis", "content", "home", "models", "providers", "scim", "sources", "tls")


class Settings(Frozen):
    home: Path = Field(description="Folder of the store, the cache and `settings.yaml`.")
    store: str = Field(default="", description="URL of a PostgreSQL database; empty for SQLite in the home folder.")
    durability: Literal["full", "normal"] = Field(
        default="full", description="`full` survives power loss, `normal` the death of the process."
    )
    sources: Mapping[str, str] = Field(
        default={}, description="Named sources: a file, a folder, a database URL or an API each."
    )
    source: str = Field(default="demo", description="The source of a question that names none.")
    query_seconds: float = Field(default=30.0, gt=0, description="Longest time one query may take.")
    query_memory_mb: int = Field(default=2048, ge=256, description="Most memory one query may use.")
    source_workers: int = Field(
        default=12, ge=2, description="Most processes that read data at the same time, of all sources together."
    )
    source_workers_mb: int = Field(
        default=4096,
        ge=256,
        description="Memory of these processes together above which idle ones end, and no other one starts.",
    )
    query_rows: int = Field(default=5_000_000, gt=0, description="Most rows one query may return.")
    step_attempts: int = Field(
        default=3,
        ge=1,
        le=20,
        description="How often a step is tried in all if its failure may pass by itself, such as a lost connection.",
    )
    step_seconds: float = Field(
        default=1800.0,
        gt=0,
        description="Longest time for one attempt of a step, with reading new data and waiting for models.",
    )
    graph_runs_per_tenant: int | None = Field(
        default=None,
        ge=1,
        description="Most runs of graphs that are carried out for one tenant at the same time; others wait.",
    )
    breaker_failures: int = Field(
        default=5, ge=1, description="After so many failures in a row a source is left alone for a while."
    )
    breaker_seconds: float = Field(default=60.0, gt=0, description="For how long such a source is left alone.")
    model: str | tuple[str, ...] = Field(
        default="", description="The language model as `provider:name`, then others that take over when it fails."
    )
    model_coding: str | tuple[str, ...] = Field(
        default="", description="Another model for the role that writes queries and programs."
    )
    model_base_url: str = Field(default="", description="Address of an OpenAI-compatible server that has the model.")
    model_key: SecretStr | None = Field(default=None, description="Key of that server or of the model's provider.")
    models: Mapping[str, Any] = Field(
        default={},
        description="Roles, providers, time-outs and budgets of language models.",
        repr=False,  # it may hold keys
        exclude=True,
    )
    share_rows: bool = Field(default=True, description="Whether values and sample records of the data go to a model.")
    share_personal: bool = Field(
        default=False, description="Whether personal data (e-mail addresses, telephone numbers, …) goes to a model."
    )
    agents_folder: Path = Field(
        default=Path("agents"),
        description="Folder of agents beside the folder `agents` of the home folder; "
        "relative to where Answerable was started.",
    )
    preplan: bool = Field(
        default=False,
        description="Whether a model looks at what is asked before it plans: one call more for each question.",
    )
    apis: Mapping[str, Mapping[str, Any]] = Field(
        default={}, description="APIs that programs may read through the host; see docs/sandboxes.md."
    )
    sandbox: str = Field(
        default="kernel", description="Where generated code runs; `answerable doctor` lists the names."
    )
    sandbox_pool: int = Field(default=2, ge=1, le=64, description="How many sandboxes are kept warm.")
    sandbox_seconds: float = Field(default=30.0, gt=0, description="Longest time one piece of generated code may take.")
    sandbox_memory_mb: int = Field(default=1024, ge=64, description="Most memory one piece of generated code may use.")
    sandbox_unisolated: bool = Field(
        default=False,
        description="Whether generated code may run without isolation where the kernel offers too little.",
    )
    sandbox_control_group: Path | None = Field(
        default=None,
        description="Folder of the memory controller in which each run of the `kernel` sandbox gets its own group.",
    )
    docker_image: str = Field(default="answerable-sandbox", description="Image of the `docker` sandbox.")
    docker_host: str = Field(
        default="", description="Address of the Docker daemon; empty for `DOCKER_HOST` or the usual socket."
    )
    kubernetes_image: str = Field(default="", description="Image of the `kubernetes` sandbox.")
    kubernetes_namespace: str = Field(
        default="answerable-sandbox", description="Namespace in which the `kubernetes` sandbox makes its jobs."
    )
    microsandbox_image: str = Field(default="", description="Image of the `microsandbox` sandbox.")
    history_window: int = Field(default=12, ge=0, description="How many messages of a thread are taken into account.")
    host: str = Field(default="127.0.0.1", description="Address that `answerable serve` listens on.")
    port: int = Field(default=8321, ge=0, le=65535, description="Port that `answerable serve` listens on.")
    tls: Mapping[str, Any] = Field(
        default={}, description="Certificate of the server, and services that have one ([identity.md](identity.md))."
    )
    cors_origins: str = Field(
        default="",
        pattern=r"^\s*(https?://[^\s,/]+\s*(,\s*https?://[^\s,/]+\s*)*)?$",
        description="Origins (`https://app.example`, separated by commas) whose pages may ask, with a key.",
    )
    rate_limits: str = Field(
        default="",
        description="How many requests are answered, such as `user 600/minute, tenant 5000/minute, user 30/minute "
        "/chat`; `off` for any number. Empty: `user 1200/minute, address 1200/minute` if other machines can reach the "
        "server or people sign in, else any number.",
    )
    waf: str = Field(
        default="",
        description="What is done with requests that look like attacks: `off`, `monitor` (a line in the log) or "
        "`block`, for all routes or for some: `monitor, block /users`. Empty: `monitor` if other machines can reach "
        "the server.",
    )
    redis: str = Field(
        default="",
        repr=False,  # it may hold a password
        description="URL of a Redis server that counts requests for several servers; empty for PostgreSQL or memory.",
    )
    sessions: Literal["store", "redis"] = Field(
        default="store", description="Where sessions are kept: in the store, or in the Redis that `redis` names."
    )
    session_minutes: int = Field(
        default=30, ge=1, le=1440, description="Minutes after which a session of the page ends if it is not used."
    )
    providers: Mapping[str, Mapping[str, Any]] = Field(
        default={}, description="Identity providers at which people sign in, by name ([identity.md](identity.md))."
    )
    scim: Mapping[str, Any] = Field(
        default={}, description="What groups and attributes of a directory mean here ([identity.md](identity.md))."
    )
    content: Mapping[str, Any] = Field(
        default={}, description="What people may not ask and models may not say ([security.md](security.md))."
    )
    runs_at_once: int = Field(
        default=0,
        ge=0,
        description="How many runs of a server work at the same time while others wait; 0 for four for each core.",
    )
    workers: bool = Field(
        default=False,
        description="Whether `answerable serve` leaves runs to `answerable worker` instead of carrying them out.",
    )
    processes: int = Field(
        default=-1,
        ge=-1,
        description="How many processes of a server read questions when many people ask; -1 for one for each core.",
    )
    upload_mb: int = Field(
        default=2048, ge=0, description="Largest file that may be uploaded; 0 forbids adding sources over HTTP."
    )
    upload_total_mb: int = Field(default=20_480, ge=0, description="Most that all uploaded files may have together.")
    source_hosts: str = Field(
        default="",
        description="Hosts, separated by commas, whose databases may be added over HTTP; "
        "this machine's may be if the server listens on loopback.",
    )
    postgres_functions: str = Field(
        default="",
        pattern=r"^\s*([^\s.,]+\.[^\s.,]+\s*(,\s*[^\s.,]+\.[^\s.,]+\s*)*)?$",
        description="Functions (`schema.name`, separated by commas) that queries of PostgreSQL may call besides those "
        "of the system; name only those in schemas where nobody else can create functions.",
    )
    redact: str = Field(
        default="",
        description="Where personal data is replaced by its kind: any of `answers`, `events`, `prompts`, `logs`, "
        "`exports`, separated by commas.",
    )
    redact_kinds: str = Field(
        default="card, email, iban, ip, phone, ssn",
        description="Which personal data is replaced; `name` can be added.",
    )
    redact_except_roles: str = Field(
        default="",
        description="Roles, separated by commas, that see personal data in answers, events and exports all the same.",
    )
    keep_days: int = Field(default=0, ge=0, description="Days that finished runs are kept; 0 keeps them for ever.")
    keep_runs: int = Field(default=0, ge=0, description="Most runs that are kept of each tenant; 0 for any number.")
    keep_mb: int = Field(
        default=0, ge=0, description="Most space that runs and their results may take; 0 for any amount."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="warning", description="`debug` also logs whole plans, programs and two sample records of each step."
    )

    _fixed: frozenset[str] = PrivateAttr(default=frozenset())

    @property
    def fixed(self) -> frozenset[str]:
        """Names of settings that the environment or a command gives: what the file says of them has no effect."""
        return self._fixed

    @property
    def store_url(self) -> str:
        return self.store or f"sqlite:///{self.home / 'answerable.db'}"

    @property
    def has_shared_store(self) -> bool:
        """Whether several servers can use the store at the same time."""
        return "://" in self.store and not self.store.startswith("sqlite:///")

    @property
    def models_config(self) -> "ModelsConfig":
        """`models`, with what the short settings say about the usual case put in. Loaded only by those who need it."""
        from answerable.models.config import read_config

        try:
            return read_config(self.models, self.model, self.model_coding, self.model_base_url, self.model_key)
        except ValidationError as error:
            raise _explained(error, "models.") from None

    def make_home(self) -> None:
        try:
            self.home.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OperatorError(
                f"The home folder {self.home} cannot be made: {error.strerror}.",
                code="home_unwritable",
                hint="Set ANSWERABLE_HOME to a folder that may be written to.",
            ) from error

    def open_sources(self, *, any_location: bool, expect: tuple[str, Principal] | None = None) -> "SourceRegistry":
        """`any_location`: whether a path or URL may stand for a source. `expect`: a source that is about to be asked,
        and by whom; its worker starts while the rest of a command is loaded."""
        from answerable import demo
        from answerable.sources.registry import SourceRegistry
        from answerable.sources.sql.backend import SourceOptions
        from answerable.sources.worker_places import WorkerPlaces

        named = {"demo": str(demo.location()), **self.sources}
        places = WorkerPlaces(self.source_workers, self.source_workers_mb)
        functions = tuple(name.strip() for name in self.postgres_functions.split(",") if name.strip())
        options = SourceOptions(memory_mb=self.query_memory_mb, postgres_functions=functions, places=places)
        registry = SourceRegistry(
            named, self.home, any_location=any_location, hosts=self.allowed_hosts, options=options
        )
        if expect is not None:
            registry.expect(*expect)
        return registry

    @property
    def hidden_paths(self) -> HiddenPaths:
        """Where this installation has files: what it tells others names none of these folders."""
        own = [value for _, value in self if isinstance(value, Path)]
        named = [Path(location).expanduser() for location in self.sources.values() if "://" not in location]
        store = [Path(self.store_url.removeprefix("sqlite:///"))] if self.store_url.startswith("sqlite:///") else []
        around = [Path.cwd(), Path.home(), Path(tempfile.gettempdir()), Path(sys.prefix), Path(__file__).parent]
        return HiddenPaths([*own, *named, *store, *around])

    @property
    def has_identities(self) -> bool:
        """Whether people sign in: whether there are access rules."""
        return (self.home / "access.yaml").exists()

    @property
    def is_local(self) -> bool:
        """Whether the server can be reached from its own machine only."""
        return self.host in LOOPBACK or (self.host.startswith("127.") and self.host.replace(".", "").isdigit())

    @property
    def allowed_hosts(self) -> "AllowedHosts":
        """Hosts whose databases may be added over HTTP. This machine's are among them only while nobody else can reach
        the server: a database may trust everybody who connects from its own machine."""
        from answerable.sources.sql.postgres_access import AllowedHosts

        names = frozenset(name.strip().lower() for name in self.source_hosts.split(",") if name.strip())
        return AllowedHosts(names, loopback=self.is_local)

    @property
    def rate_rules(self) -> tuple[RateRule, ...]:
        is_shared = not self.is_local or self.has_identities
        text = self.rate_limits or (DEFAULT_RATES if is_shared else "off")
        return () if text.strip().lower() == "off" else parsed_rules(text)

    @property
    def waf_rules(self) -> tuple[WafRule, ...]:
        return parsed_modes(self.waf or ("off" if self.is_local else "monitor"))

    @field_validator("waf")
    @classmethod
    def _are_modes(cls, text: str) -> str:
        parsed_modes(text)
        return text

    @field_validator("rate_limits")
    @classmethod
    def _are_rates(cls, text: str) -> str:
        if text.strip().lower() != "off":
            parsed_rules(text)
        return text

    @property
    def personal_policy(self) -> PersonalPolicy:
        return parsed_policy(self.redact, self.redact_kinds, self.redact_except_roles)

    @field_validator("redact")
    @classmethod
    def _are_places(cls, text: str) -> str:
        parsed_policy(text, "", "")
        return text

    @field_validator("redact_kinds")
    @classmethod
    def _are_kinds(cls, text: str) -> str:
        parsed_policy("", text, "")
        return text

    @property
    def allowed_origins(self) -> frozenset[str]:
        """Other origins whose pages may ask. Browsers send origins in lower case."""
        return frozenset(name.strip().lower() for name in self.cors_origins.split(",") if name.strip())

    def added_sources(self, principal: Principal) -> "AddedSources":
        """The sources that the principal's tenant has added while Answerable ran."""
        from answerable.sources.added import AddedSources, tenant_home

        return AddedSources(tenant_home(self.home, principal.tenant))

    @property
    def sandbox_options(self) -> SandboxOptions:
        return SandboxOptions(
            backend=self.sandbox,
            pool=self.sandbox_pool,
            allow_unisolated=self.sandbox_unisolated,
            control_group=self.sandbox_control_group,
            docker_image=self.docker_image,
            docker_host=self.docker_host,
            kubernetes_image=self.kubernetes_image,
            kubernetes_namespace=self.kubernetes_namespace,
            microsandbox_image=self.microsandbox_image,
        )

    @property
    def longest_step(self) -> float:
        """Seconds for one attempt of a step: never less than the query or the program in it may take."""
        return max(self.step_seconds, self.query_seconds + 60, self.sandbox_seconds + 60)

    @property
    def sandbox_limits(self) -> SandboxLimits:
        return SandboxLimits(seconds=self.sandbox_seconds, memory_mb=self.sandbox_memory_mb)

    @property
    def artifacts(self) -> Path | None:
        """Beside the store; a store in memory has a folder that passes with it."""
        return None if self.store == ":memory:" else self.home / "artifacts"

    @property
    def agent_places(self) -> tuple[Path, ...]:
        """The folders in which agents are looked for beside those that come with Answerable."""
        return self.home / "agents", self.agents_folder.absolute()

    @property
    def cache(self) -> Path:
        return self.home / "cache"


def load_settings(environment: Mapping[str, str] = os.environ, **overrides: Any) -> Settings:
    """`overrides` win over the environment: they come from the command line or from a program."""
    home = Path(overrides.pop("home", None) or environment.get(PREFIX + "HOME") or Path.home() / ".answerable")
    fixed = _from_environment(environment)
    fixed |= {name: value for name, value in overrides.items() if value is not None}
    settings = validated({"home": home, **file_values(home / "settings.yaml"), **fixed})
    settings._fixed = frozenset(fixed)
    return settings


def validated(values: Mapping[str, Any]) -> Settings:
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        raise _explained(error) from None
    if settings.models:
        _ = settings.models_config  # what is wrong with it is said now, not in the middle of a run
    return settings


def file_values(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    import yaml

    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise OperatorError(f"{path} cannot be read: {error}", code="settings_invalid") from error
    if not isinstance(values, dict):
        raise OperatorError(f"{path} must hold `name: value` lines.", code="settings_invalid")
    return values


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    names = {PREFIX + name.upper(): name for name in Settings.model_fields if name not in _FILE_ONLY}
    unknown = sorted(key for key in environment if key.startswith(PREFIX) and key not in {*names, PREFIX + "HOME"})
    if unknown:
        raise OperatorError(
            f"{unknown[0]} is not a setting.",
            code="settings_invalid",
            hint="Settings are: " + ", ".join(sorted([*names, PREFIX + "HOME"])),
        )
    return {name: environment[key] for key, name in names.items() if key in environment}


def _explained(error: ValidationError, within: str = "") -> OperatorError:
    problem = first_problem(error)
    name = within + problem.field
    return OperatorError(
        f"The setting {name!r} is wrong: {problem.message}.",
        code="settings_invalid",
        hint="`docs/settings.md` lists every setting with its meaning.",
    )


def shown_settings(settings: Settings) -> dict[str, Any]:
    """Every setting by name, as it may be shown: without keys, and locations without passwords."""
    from answerable.sources.open import shown_location

    shown = settings.model_dump(mode="json", exclude={"apis", "model_key"})
    shown["store"] = shown_location(settings.store_url)
    shown["source"] = shown_location(settings.source)
    shown["sources"] = {name: shown_location(location) for name, location in settings.sources.items()}
    shown["model_base_url"] = shown_location(settings.model_base_url)
    shown["redis"] = shown_location(settings.redis)
    shown["model_key"] = "set" if settings.model_key is not None else None
    shown["models"] = "set" if settings.models else None
    shown["apis"] = sorted(settings.apis)
    return shown

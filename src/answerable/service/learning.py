"""A model teaches the reader: once, it writes what people call the things of a source, and questions with statements.

Each name is checked against the catalog and the data, and each statement is run. What holds is proposed as a new text
of `semantic.yaml`, for a person to review; what does not is listed with the reason. Accepting the proposal is a change
of `semantic.yaml` like every other: it is recorded, and can be undone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import Field

from answerable.agents.readers import Readers
from answerable.answers.answer import Usage
from answerable.core.catalog import Catalog, Column, Table
from answerable.core.context import Principal
from answerable.core.errors import AnswerableError
from answerable.core.values import Frozen, Json
from answerable.core.words import normalise
from answerable.engine.steps.sql import SqlConfig
from answerable.models.current import CurrentModels
from answerable.service.agents import AgentService
from answerable.service.answers import AnswerService
from answerable.service.semantic import SemanticService
from answerable.sources.editing import read_meaning, rewritten
from answerable.sources.registry import SourceRegistry
from answerable.sources.semantic import Semantic, apply, dump, parse

if TYPE_CHECKING:
    from answerable.agents.schema_links import SchemaLinks

LEARN = "learn"
"""The agent that is asked."""
MOST_QUESTIONS = 30
MOST_WORDINGS = 8
_TABLES_AT_ONCE = 12
"""Tables that one call of the model is about."""
_LONGEST_NAME = 60
_ROOM = 20_000
"""Tokens for the description of the tables of one call."""


class LeftOut(Frozen):
    what: str
    reason: str


class LearnedSummary(Frozen):
    tables: int = Field(description="Names of tables that are new.")
    columns: int
    values: int
    units: int
    measures: int
    questions: int
    wordings: int


class Learned(Frozen):
    source: str
    text: str = Field(description="The whole semantic.yaml with what was learned.")
    added: LearnedSummary
    left_out: list[LeftOut]
    accepted: bool = Field(description="Whether the text is in force now.")
    usage: Usage


class LearningService:
    def __init__(
        self,
        agents: AgentService,
        answers: AnswerService,
        semantic: SemanticService,
        registry: SourceRegistry,
        readers: Readers,
        models: CurrentModels,
    ) -> None:
        self._agents = agents
        self._answers = answers
        self._semantic = semantic
        self._registry = registry
        self._readers = readers
        self._models = models

    async def learn(
        self, name: str, principal: Principal, *, accept: bool = False, max_tokens: int = 100_000
    ) -> Learned:
        """Asks a model once for names and questions of a source, checks them, and proposes a new semantic.yaml.
        `accept` puts it in force. No further call is made once `max_tokens` are used."""
        from answerable.agents.schema_links import schema_links  # brings the reader, which is slow to load

        source = await self._registry.get(name, principal)
        reader = await self._readers.reader(source, principal)
        found = schema_links(reader, "", share_personal=self._models.share_personal)
        before = (await read_meaning(source)).text
        said = parse(before)
        proposal = _Proposal(await source.describe_plainly(), said)
        usage = Usage()
        for group in _groups(found.tables):
            if usage.input_tokens + usage.output_tokens >= max_tokens:
                reason = f"The limit of {max_tokens:,} tokens was reached; {', '.join(group)} came after it."
                proposal.left_out.append(LeftOut(what=", ".join(group), reason=reason))
                continue
            inputs = self._inputs(name, found, group, said)
            reply = await self._agents.run(LEARN, inputs, principal)
            usage = _sum(usage, reply.usage)
            await self._take(proposal, reply.reply, name, principal)
        text = rewritten(before, proposal.semantic())
        if accept:
            await self._semantic.rewrite(name, text, principal, note="Learned from a model")
        return Learned(
            source=name,
            text=text,
            added=proposal.summary(),
            left_out=proposal.left_out,
            accepted=accept,
            usage=usage,
        )

    def _inputs(self, name: str, found: "SchemaLinks", group: Sequence[str], said: Semantic) -> dict[str, Json]:
        from answerable.agents.schema_text import tables_text

        tables = tables_text(
            replace(found, tables=tuple(group), touched=len(group)), share_rows=self._models.share_rows, room=_ROOM
        )
        return {"source": name, "dialect": found.catalog.dialect, "tables": tables, "known": dump(said)}

    async def _take(self, proposal: "_Proposal", reply: Mapping[str, Any], name: str, principal: Principal) -> None:
        for table in reply["tables"]:
            proposal.take_table(table)
        for table, column, value, names in list(proposal.new_values):
            if not await self._exists(name, table, column, value, principal):
                proposal.drop_value(table, column, value, names)
        proposal.new_values.clear()
        for measure in reply["measures"]:
            await self._take_measure(proposal, measure, name, principal)
        for question in reply["questions"]:
            await self._take_question(proposal, question, name, principal)

    async def _exists(self, name: str, table: str, column: str, value: str, principal: Principal) -> bool:
        text = value.replace("'", "''")
        sql = f"SELECT 1 AS found FROM {_quoted(table)} WHERE CAST({_quoted(column)} AS VARCHAR) = '{text}' LIMIT 1"  # noqa: S608 - checked like all SQL before it runs
        return await self._rows(name, sql, principal) == 1

    async def _take_measure(
        self, proposal: "_Proposal", measure: Mapping[str, Any], name: str, principal: Principal
    ) -> None:
        what = f"measure {measure['name']}"
        if not proposal.take_measure(measure):
            return
        sql = f"SELECT {measure['expression']} AS n FROM {_quoted(measure['table'])}"  # noqa: S608 - as above
        try:
            if await self._rows(name, sql, principal) != 1:
                proposal.drop_measure(measure["name"], what, "it does not give one number")
        except AnswerableError as error:
            proposal.drop_measure(measure["name"], what, error.message)

    async def _take_question(
        self, proposal: "_Proposal", question: Mapping[str, Any], name: str, principal: Principal
    ) -> None:
        what = f"question “{question['question']}”"
        try:
            rows = await self._rows(name, question["sql"], principal)
        except AnswerableError as error:
            proposal.left_out.append(LeftOut(what=what, reason=error.message))
            return
        if not rows:
            proposal.left_out.append(LeftOut(what=what, reason="its statement gives no rows"))
            return
        proposal.take_question(question)

    async def _rows(self, name: str, sql: str, principal: Principal) -> int:
        from answerable.answers import frame

        path = await self._answers.query(SqlConfig(source=name, sql=sql), principal)
        return len(frame.rows(path, 0, 2))


class _Proposal:
    """What is said already and what is new, as the data of a semantic.yaml."""

    def __init__(self, catalog: Catalog, said: Semantic) -> None:
        self._catalog = catalog
        self._data: dict[str, Any] = said.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        self._counts = dict.fromkeys(LearnedSummary.model_fields, 0)
        self.left_out: list[LeftOut] = []
        self.new_values: list[tuple[str, str, str, list[str]]] = []
        self._taken: dict[str, str] = dict(_names(apply(catalog, said)))

    def semantic(self) -> Semantic:
        return Semantic.model_validate(_pruned(self._data))

    def summary(self) -> LearnedSummary:
        return LearnedSummary(**self._counts)

    def take_table(self, reply: Mapping[str, Any]) -> None:
        table = self._catalog.table(reply["table"])
        if table is None:
            self._leave(f"table {reply['table']}", "there is no such table")
            return
        said = self._data.setdefault("tables", {}).setdefault(table.name, {})
        self._counts["tables"] += self._describe(said, reply, table.name, table.name)
        for column_reply in reply["columns"]:
            column = table.column(column_reply["column"])
            if column is None:
                self._leave(f"column {table.name}.{column_reply['column']}", "there is no such column")
                continue
            self._take_column(said.setdefault("columns", {}).setdefault(column.name, {}), column_reply, table, column)

    def _take_column(self, said: dict[str, Any], reply: Mapping[str, Any], table: Table, column: Column) -> None:
        place = f"{table.name}.{column.name}"
        self._counts["columns"] += self._describe(said, reply, place, column.name)
        if reply["unit"].strip() and "unit" not in said and column.type in ("integer", "number"):
            said["unit"] = reply["unit"].strip()[:_LONGEST_NAME]
            self._counts["units"] += 1
        for value in reply["values"]:
            names = [name for name in map(str.strip, value["names"]) if 0 < len(name) <= _LONGEST_NAME]
            known = said.setdefault("values", {})
            if names and value["value"] not in known:
                known[value["value"]] = names
                self.new_values.append((table.name, column.name, value["value"], names))
                self._counts["values"] += 1

    def drop_value(self, table: str, column: str, value: str, names: Sequence[str]) -> None:
        del self._data["tables"][table]["columns"][column]["values"][value]
        self._counts["values"] -= 1
        self._leave(f"{', '.join(names)} for {table}.{column}", f"there is no value {value!r}")

    def take_measure(self, reply: Mapping[str, Any]) -> bool:
        """Whether it is new and can be parsed."""
        name, measures = reply["name"].strip(), self._data.setdefault("measures", {})
        if not name or name in measures:
            return False
        synonyms = self._new_names(reply["synonyms"], f"measure {name}", name)
        measures[name] = {"table": reply["table"], "expression": reply["expression"]}
        measures[name] |= {"synonyms": synonyms} if synonyms else {}
        measures[name] |= {"unit": reply["unit"].strip()} if reply["unit"].strip() else {}
        try:
            apply(self._catalog, self.semantic())
        except AnswerableError as error:
            del measures[name]
            self._leave(f"measure {name}", error.message)
            return False
        self._counts["measures"] += 1
        return True

    def drop_measure(self, name: str, what: str, reason: str) -> None:
        del self._data["measures"][name.strip()]
        self._counts["measures"] -= 1
        self._leave(what, reason)

    def take_question(self, reply: Mapping[str, Any]) -> None:
        questions = self._data.setdefault("questions", [])
        known = {normalise(text) for each in questions for text in (each["question"], *each.get("also", ()))}
        if self._counts["questions"] >= MOST_QUESTIONS:
            self._leave(f"question “{reply['question']}”", f"no more than {MOST_QUESTIONS} are kept")
            return
        if normalise(reply["question"]) in known:
            return
        also = [text.strip() for text in reply["also"] if text.strip() and normalise(text) not in known]
        also = list(dict.fromkeys(also))[:MOST_WORDINGS]
        questions.append(
            {"question": reply["question"].strip(), "sql": reply["sql"].strip()} | ({"also": also} if also else {})
        )
        self._counts["questions"] += 1
        self._counts["wordings"] += 1 + len(also)

    def _describe(self, said: dict[str, Any], reply: Mapping[str, Any], place: str, name: str) -> int:
        """Adds label and synonyms; returns how many names are new."""
        label = reply["label"].strip()
        new = self._new_names([label] if label and "label" not in said else [], place, name)
        if new:
            said["label"] = new[0]
        synonyms = self._new_names(reply["synonyms"], place, name)
        if synonyms:
            said["synonyms"] = [*said.get("synonyms", ()), *synonyms]
        return len(new) + len(synonyms)

    def _new_names(self, names: Sequence[str], place: str, own: str) -> list[str]:
        found = []
        for name in dict.fromkeys(map(str.strip, names)):
            folded = normalise(name)
            if not folded or len(name) > _LONGEST_NAME or folded == normalise(own):
                continue
            owner = self._taken.get(folded)
            if owner is not None and owner != place:
                # A word for two things would make every question that uses it ask back.
                self._leave(f"“{name}” for {place}", f"it is a name of {owner}")
                continue
            if owner is None:
                self._taken[folded] = place
                found.append(name)
        return found

    def _leave(self, what: str, reason: str) -> None:
        self.left_out.append(LeftOut(what=what, reason=reason))


def _names(catalog: Catalog) -> Iterator[tuple[str, str]]:
    """Every name that is taken, with the thing that has it."""
    for table in catalog.tables:
        for name in (table.name, table.label, *table.synonyms):
            if name:
                yield normalise(name), table.name
        for column in table.columns:
            for name in (column.label, *column.synonyms):
                if name:
                    yield normalise(name), f"{table.name}.{column.name}"
    for measure in catalog.measures:
        for name in (measure.name, measure.label, *measure.synonyms):
            if name:
                yield normalise(name), f"measure {measure.name}"


def _pruned(data: dict[str, Any]) -> dict[str, Any]:
    """The file without entries of which nothing is said."""
    inner = {name: _pruned(value) if isinstance(value, dict) else value for name, value in data.items()}
    return {name: value for name, value in inner.items() if value not in ({}, [])}


def _groups(tables: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for start in range(0, len(tables), _TABLES_AT_ONCE):
        yield tuple(tables[start : start + _TABLES_AT_ONCE])


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _sum(one: Usage, other: Usage) -> Usage:
    cost = None if one.cost_usd is None or other.cost_usd is None else one.cost_usd + other.cost_usd
    return Usage(
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cost_usd=cost,
        model_calls=one.model_calls + other.model_calls,
        duration_ms=one.duration_ms + other.duration_ms,
    )

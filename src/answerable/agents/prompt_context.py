"""The prompt context: the texts about a question, its sources and the earlier conversation that a model sees.

The reader's linker chooses the tables that the question touches; they are described. Other tables, those related to
them first, are described only while little room is used, and else named: a model finds them with `search_schema`. With
`share_rows: false` no value of the data goes into any of these texts.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from answerable.agents.data_text import as_data
from answerable.agents.dependencies import AgentDependencies
from answerable.agents.federation import by_label
from answerable.agents.query_text import CYPHER
from answerable.agents.reader_graphs import FAIRLY_SURE
from answerable.answers.answer import Answer
from answerable.answers.capsule import CapsuleBody, read_capsule
from answerable.core.catalog import Catalog, Column, Relationship, Table
from answerable.core.context import Principal
from answerable.core.values import FrameRef, Json
from answerable.core.words import name_words, stem
from answerable.engine.steps.understand import Conversation, Question
from answerable.models.tokens import likely
from answerable.reader.linking.links import ValueMention
from answerable.reader.linking.scene import link_question
from answerable.reader.linking.tokens import tokenize
from answerable.reader.linking.unknown_words import unknown_words
from answerable.reader.reader import Reader
from answerable.reader.reading import Reading
from answerable.sources.classing import personal_reason, secret_reason

if TYPE_CHECKING:
    from answerable.query.merged import Merged

TABLE_TOKENS = 6_000
"""Token budget of the table descriptions. Tables beyond it, the least relevant ones, are only named."""
SPARE_TOKENS = 700
"""Tables that the question does not touch are described as long as all descriptions stay below this."""
_NAMED_TOKENS = 600
"""Token budget of the names of tables that are not described."""
_TOUCHED = 0.35
"""A table whose words score less than this share of the best one's is not what the question is about."""
_MIN_SCORE = 0.6
"""Columns and values that match less well than this often match by chance, so they do not count for their table."""
_FORMS = (re.compile(r"[-+]?\d[\d.,]*%?"), re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*"))
"""Numbers and dates that are stored as text: only another one is a value of their column."""
_LEAST_SURE = 0.8
"""Inferred relationships with less confidence than this are not stated as facts."""
WITHHELD = "[withheld]"
"""Stands for a cell that a model may not see."""
_EXAMPLES = 3
_VALUES = 12
_TEXT = 200
"""Characters of one value that are shown."""
_ANSWER_TEXT = 1_000
"""Characters of the last answer's text that are shown."""
_EARLIER_ROWS = 12
"""Rows of the last answer that are shown; a model can look at more."""
LAST_ANSWER = "last_answer"
"""The name of the last answer's rows."""


@dataclass(frozen=True, slots=True)
class SchemaLinks:
    """The tables and values of one source that the words of a question match."""

    catalog: Catalog
    tables: tuple[str, ...]
    """All tables of the source. Those that match best come first, then the tables related to them."""
    values: tuple[str, ...]
    """`phrase: table.column = value`"""
    unknown: tuple[str, ...]
    touched: int = 0
    """How many of `tables`, from the first on, the question is about. The others are there for joins, or in case."""

    def touched_alone(self) -> "SchemaLinks":
        """The same without the tables that the words do not touch."""
        return replace(self, tables=self.tables[: self.touched])


def schema_links(reader: Reader, question: str, *, share_personal: bool = False) -> SchemaLinks:
    """Without `share_personal`, the links have no values of columns with personal data."""
    scene = link_question(tokenize(question), reader.schema, reader.values)
    links, catalog = scene.links, reader.catalog
    scores: defaultdict[str, float] = defaultdict(float)
    for mention in links.tables:
        # A question that names a table is about it; the same column name or value occurs in many tables.
        scores[reader.schema.tables[mention.id].name] += 2 * mention.score
    for column, score in [*((m.id, m.score) for m in links.columns), *((v.column, v.score) for v in links.values)]:
        scores[_table_of(reader, column)] += score if score >= _MIN_SCORE else 0.0
    for mention in links.measures:
        scores[reader.schema.measures[mention.id][0].table] += 2 * mention.score
    words = {stem(word) for part in question.split() for word in name_words(part)}
    for table in catalog.tables:
        # A table whose whole name is said is meant before tables that share some of its words.
        if scores[table.name] and {stem(word) for word in name_words(table.name)} <= words:
            scores[table.name] *= 3
    best = sorted((name for name, score in scores.items() if score), key=lambda name: -scores[name])
    about = [name for name in best if scores[name] >= _TOUCHED * scores[best[0]]]
    about += _bridges(catalog, about)
    tables = dict.fromkeys([*about, *best, *_neighbours(catalog, about), *(table.name for table in catalog.tables)])
    values = dict.fromkeys(
        f"{_qualified(_table_of(reader, value.column), reader.schema.columns[value.column].name)}"
        f" = {as_data(shortened(value.value))}"
        for value in sorted(links.values, key=lambda value: -value.score)
        if _is_found(source := reader.schema.columns[value.column].source, value)
        and (share_personal or source.sensitivity != "personal")
    )
    named = _words_of_names(catalog)
    unknown = tuple(word for word in unknown_words(scene).unknown if not named & {stem(w) for w in name_words(word)})
    shared = catalog if share_personal else _impersonal(catalog)
    return SchemaLinks(shared, tuple(tables), tuple(values)[:_VALUES], unknown, len(about))


def _impersonal(catalog: Catalog) -> Catalog:
    """The catalog without values of columns that hold personal data."""
    emptied = {"examples": (), "minimum": None, "maximum": None, "value_names": ()}
    tables = (
        table.model_copy(
            update={
                "columns": tuple(
                    column.model_copy(update=emptied) if column.sensitivity == "personal" else column
                    for column in table.columns
                )
            }
        )
        for table in catalog.tables
    )
    return catalog.model_copy(update={"tables": tuple(tables)})


def _is_found(column: Column, value: ValueMention) -> bool:
    """Whether the value stands in the data and fits its column. The reader also notes texts that a question may look
    for; they have no score, since nothing says that they exist."""
    if value.score < _MIN_SCORE or column.type not in ("text", "boolean"):
        return False
    # A single letter is found by accident, unless the column holds nothing but letters.
    if len(value.value) == 1 and any(len(example) > 1 for example in column.examples):
        return False
    alike = [pattern for pattern in _FORMS if column.examples and all(map(pattern.fullmatch, column.examples))]
    return all(pattern.fullmatch(value.value) for pattern in alike)


def _words_of_names(catalog: Catalog) -> set[str]:
    """The stems of all words in the names of tables, columns and measures. A word among them matches something."""
    names = [text for table in catalog.tables for text in (table.name, table.label or "", *table.synonyms)]
    columns = [column for table in catalog.tables for column in table.columns]
    names += [text for column in columns for text in (column.name, column.label or "", *column.synonyms)]
    names += [text for measure in catalog.measures for text in (measure.name, measure.label or "", *measure.synonyms)]
    return {stem(word) for name in names for word in name_words(name)}


def _table_of(reader: Reader, column: int) -> str:
    return reader.schema.tables[reader.schema.columns[column].table].name


def _neighbours(catalog: Catalog, names: Sequence[str]) -> Iterable[str]:
    for relationship in catalog.relationships:
        ends = (relationship.from_table, relationship.to_table)
        if any(end in names for end in ends):
            yield from ends


def _bridges(catalog: Catalog, names: Sequence[str]) -> list[str]:
    """Tables that two of the named ones are related to: without them, these could not be joined."""
    linked: defaultdict[str, set[str]] = defaultdict(set)
    for each in catalog.relationships:
        for one, other in ((each.from_table, each.to_table), (each.to_table, each.from_table)):
            if one in names and other not in names:
                linked[other].add(one)
    return [table for table, ends in linked.items() if len(ends) > 1]


def values_text(found: SchemaLinks, *, share_rows: bool) -> str:
    """Values that words of the question may mean, and the words that match no name or value."""
    # Unknown words come from the question, not from the data, so they are shown even without `share_rows`.
    known = list(found.values) if share_rows else []
    unknown = (
        [f"no name or value matches: {', '.join(map(as_data, dict.fromkeys(found.unknown)))}"] if found.unknown else []
    )
    return "\n".join([*known, *unknown])


def tables_text(found: SchemaLinks, *, share_rows: bool, room: int = TABLE_TOKENS, spare: int = SPARE_TOKENS) -> str:
    """Describes the tables that the question touches as long as they fit into `room` tokens, others as long as all
    descriptions fit into `spare`. The rest is named."""
    catalog, parts, named, used = found.catalog, [], [], 0
    for place, name in enumerate(found.tables):
        table = catalog.table(name)
        text = _description(table, catalog, share_rows) if table else ""
        most = room if place < found.touched or not found.touched else min(room, spare)
        if not text or used + likely(text) > most:
            named.append(name)
            continue  # a later, smaller table may still fit
        used += likely(text)
        parts.append(text)
    # A join with a table that is only named could not be written: its columns are not shown.
    shown = set(found.tables) - set(named)
    joins = catalog.relationships if catalog.dialect != CYPHER else ()  # patterns of a graph follow its relationships
    parts += [_relationship(each) for each in joins if {each.from_table, each.to_table} <= shown]
    parts += [
        f"measure {as_data(m.name)} of {as_data(m.table)} = {as_data(m.expression)}{_note(m.description)}"
        for m in catalog.measures
        if m.table in shown
    ]
    return "\n".join([*parts, *_names_of(named)])


def _names_of(tables: Sequence[str]) -> list[str]:
    if not tables:
        return []
    listed: list[str] = []
    for name in map(as_data, tables):
        if likely(", ".join([*listed, name])) > _NAMED_TOKENS:
            break
        listed.append(name)
    more = f" and {len(tables) - len(listed)} more" if len(listed) < len(tables) else ""
    return [f"also there, not described: {', '.join(listed)}{more}"]


def _description(table: Table, catalog: Catalog, share_rows: bool) -> str:
    return _node_or_relationship(table, share_rows) if catalog.dialect == CYPHER else _table(table, share_rows)


def _node_or_relationship(table: Table, share_rows: bool) -> str:
    """A table of a graph as Cypher sees it. The keys of the nodes that a relationship connects are no properties."""
    count = f", {table.row_count:,} of them" if table.row_count is not None else ""
    called = f"{_names(table.label, table.synonyms)}{_note(table.description)}"
    ends = [f"({as_data(each.from_table)})-[]->({as_data(each.to_table)})" for each in table.connections]
    keys = {end for each in table.connections for end in (each.from_column, each.to_column)}
    key = f", key {', '.join(map(as_data, table.primary_key))}" if table.primary_key else ""
    kind = "relationship" if ends else "node"
    head = f"{kind} {as_data(table.name)}{' from ' + ' or '.join(ends) if ends else ''}{count}{key}{called}"
    stored = [column for column in table.columns if column.name not in keys]
    return "\n".join([head, *(f"  {_column(column, share_rows)}" for column in stored)])


def _table(table: Table, share_rows: bool) -> str:
    rows = f", {table.row_count:,} rows" if table.row_count is not None else ""
    key = f", key {', '.join(map(as_data, table.primary_key))}" if table.primary_key else ""
    head = f"table {as_data(table.name)}{rows}{key}{_names(table.label, table.synonyms)}{_note(table.description)}"
    return "\n".join([head, *(f"  {_column(column, share_rows)}" for column in table.columns)])


def _column(column: Column, share_rows: bool) -> str:
    text = f"{as_data(column.name)} {column.type}{_names(column.label, column.synonyms)}"
    text += f" in {as_data(column.unit)}" if column.unit else ""
    text += _seen(column) if share_rows else ""
    text += ", personal data" if column.sensitivity == "personal" else ""
    text += f", {column.null_count:,} empty" if column.null_count else ""
    # Names of values quote the data, so they fall under `share_rows`; the column's description does not.
    meanings = [f"{as_data(each.value)} is {' or '.join(map(as_data, each.synonyms))}" for each in column.value_names]
    return text + (f"; {', '.join(meanings)}" if meanings and share_rows else "") + _note(column.description)


def _seen(column: Column) -> str:
    """The range of a column, or all its values if they are few, or some examples."""
    if column.minimum is not None:
        return f", from {as_data(column.minimum)} to {as_data(column.maximum)}"
    if not column.examples:
        return ""
    shown = [as_data(shortened(each)) for each in column.examples]
    # "only" tells the model that no other value exists, so it must be certain that the examples are complete.
    if column.distinct_count is not None and column.distinct_count <= len(shown):
        return f", only {', '.join(shown)}"
    return f", for example {', '.join(shown[:_EXAMPLES])}"


def _qualified(table: str, column: str) -> str:
    return f"{as_data(table)}.{as_data(column)}"


def _names(label: str | None, synonyms: Sequence[str]) -> str:
    called = [*([label] if label else []), *synonyms]
    return f" (called {', '.join(map(as_data, called))})" if called else ""


def _note(description: str | None) -> str:
    return f" -- {as_data(description)}" if description else ""


def _relationship(each: Relationship) -> str:
    pairs = zip(each.from_columns, each.to_columns, strict=True)
    same = " and ".join(f"{_qualified(each.from_table, a)} = {_qualified(each.to_table, b)}" for a, b in pairs)
    doubt = " (a guess from names and values: check it)" if _is_weak(each) else ""
    return f"{'perhaps ' if doubt else ''}join {same}{_names(None, each.synonyms)}{doubt}"


def _is_weak(each: Relationship) -> bool:
    return each.origin == "inferred" and each.confidence < _LEAST_SURE


def links_text(merged: "Merged", labels: Mapping[str, str]) -> str:
    """How rows of different sources belong together. `labels` are the names under which a model knows the sources."""
    lines = []
    for each in merged.catalog.relationships:
        start, end = merged.origins[each.from_table], merged.origins[each.to_table]
        if start.source != end.source:
            pairs = zip(each.from_columns, each.to_columns, strict=True)
            same = " and ".join(f"{_qualified(start.table, a)} = {_qualified(end.table, b)}" for a, b in pairs)
            one, other = as_data(labels[start.source]), as_data(labels[end.source])
            lines.append(f"rows of {one} and {other} belong together by {same}")
    return "\n".join(lines)


def frame_text(
    name: str,
    frame: FrameRef,
    *,
    share_rows: bool,
    share_personal: bool = False,
    records: Sequence[Json] | None = None,
    first: int = 1,
) -> str:
    """An earlier step's rows: their number, their columns and some of the rows: `records` if passed, which begin at row
    `first`, else the sample that is stored with the frame."""
    head = f"{name}: {frame.row_count:,} rows"
    columns = [f"  {as_data(column.name)} {column.type}" for column in frame.columns]
    shown = [f"  {_record(record, share_personal)}" for record in records or frame.sample] if share_rows else []
    part = f"the first {len(shown)}" if first == 1 else f"rows {first} to {first + len(shown) - 1}"
    which = "all" if len(shown) == frame.row_count else part if records else "some"
    return "\n".join([head, *columns, *([f"  {which} of them:", *shown] if shown else [])])


def _record(record: Json, share_personal: bool) -> str:
    """Writes the record as JSON, so that a model can distinguish numbers, texts and nulls."""
    return as_data({name: shared_cell(name, value, share_personal) for name, value in record.items()})


def shared_cell(name: str, value: Json, share_personal: bool) -> Json:
    """A cell as a model may see it: secrets never, personal data only if that is allowed. Queries rename columns, so
    both the name and the value decide."""
    if not isinstance(value, str):
        return value
    if secret_reason(name, (value,)) or (not share_personal and personal_reason(name, (value,))):
        return WITHHELD
    return shortened(value)


def shortened(value: Json, most: int = _TEXT) -> Json:
    return f"{value[:most]}…" if isinstance(value, str) and len(value) > most else value


def earlier_text(before: Conversation, *, share_rows: bool, share_personal: bool = False) -> str:
    """The last answer of the thread: its question, programs, text and first rows. If the last message was a question
    back, also its text and choices, since the new message may answer it."""
    parts = []
    if (asked := _asked_back(before)) is not None:
        choices = [as_data(choice.label) for choice in asked.answer.choices]
        parts.append(f"asked back after {as_data(asked.question)}: {as_data(asked.answer.text)} {', '.join(choices)}")
    if (answered := _answered(before)) is not None:
        answer = answered.answer
        parts.append(f"question: {as_data(answered.question)}")
        parts += [f"{step.id} ({step.kind}): {as_data(step.code)}" for step in answer.steps if step.code]
        if share_rows:
            parts.append(f"answer: {as_data(shortened(answer.text, _ANSWER_TEXT))}")
        if answer.columns:
            parts.append(_earlier_rows(answer, share_rows, share_personal))
    return "\n".join(parts)


def conversation_text(before: Conversation, dependencies: AgentDependencies) -> str:
    rows, personal = dependencies.share_rows, dependencies.share_personal
    return earlier_text(before, share_rows=rows, share_personal=personal)


def _earlier_rows(answer: Answer, share_rows: bool, share_personal: bool) -> str:
    names = [column.name for column in answer.columns]
    head = f"its rows, {LAST_ANSWER}: {answer.row_count:,} rows with the columns {', '.join(map(as_data, names))}"
    if not share_rows:
        return head
    rows = [dict(zip(names, row, strict=True)) for row in answer.rows[:_EARLIER_ROWS]]
    return "\n".join([head, *(f"  {_record(row, share_personal)}" for row in rows)])


def earlier_frames(before: Conversation) -> dict[str, FrameRef]:
    """The rows of the last answer of the thread, under the name by which a model can look at more of them."""
    answered = _answered(before)
    if answered is None or answered.answer.provenance.artifact is None:
        return {}
    answer = answered.answer
    assert answer.provenance.artifact is not None
    frame = FrameRef(
        artifact=answer.provenance.artifact, columns=answer.columns, row_count=answer.row_count, byte_count=0, sample=()
    )
    return {LAST_ANSWER: frame}


def _asked_back(before: Conversation) -> CapsuleBody | None:
    last = read_capsule(before.last) if before.last is not None else None
    return last if last is not None and last.answer.kind == "clarify" else None


def _answered(before: Conversation) -> CapsuleBody | None:
    """The last answer that is no question back."""
    body = before.answered or (before.last if _asked_back(before) is None else None)
    return read_capsule(body) if body is not None else None


async def question_context(
    question: Question,
    before: Conversation,
    best: Reading | None,
    dependencies: AgentDependencies,
    principal: Principal,
) -> dict[str, str]:
    """The variables of a prompt about the whole question. `best` is the reader's best reading; it is left out if the
    reader is not even fairly sure of it, because it would mislead the model."""
    tables, values = await sources_context(question, dependencies, principal)
    reader = await dependencies.readers.reader(await dependencies.readers.source_of(question, principal), principal)
    return {
        "question": as_data(question.text),
        "today": dependencies.readers.today(question.today, reader.catalog).isoformat(),
        "sources": tables,
        "values": values,
        "earlier": conversation_text(before, dependencies),
        "reading": as_data(best.sentence) if best is not None and best.confidence >= FAIRLY_SURE else "",
    }


async def sources_context(question: Question, dependencies: AgentDependencies, principal: Principal) -> tuple[str, str]:
    """The tables of every source of the question, and the values that its words may mean."""
    found = await schema_links_by_source(question, dependencies, principal)
    schemas = schema_texts(found, share_rows=dependencies.share_rows)
    tables = [
        f"source {as_data(label)}, {_language(found[label].catalog)}\n{schema}" for label, schema in schemas.items()
    ]
    tables.append(await links_between_sources(question, dependencies, principal))
    return "\n".join(filter(None, tables)), known_values_text(found, share_rows=dependencies.share_rows)


def _language(catalog: Catalog) -> str:
    return "a graph, in Cypher" if catalog.dialect == CYPHER else f"in the SQL of {catalog.dialect}"


async def schema_links_by_source(
    question: Question, dependencies: AgentDependencies, principal: Principal
) -> dict[str, SchemaLinks]:
    """The schema links of each source, by the source's label."""
    return {
        label: schema_links(
            await dependencies.readers.reader(await dependencies.sources.get(name, principal), principal),
            question.text,
            share_personal=dependencies.share_personal,
        )
        for label, name in by_label(question).items()
    }


def schema_texts(found: Mapping[str, SchemaLinks], *, share_rows: bool) -> dict[str, str]:
    # An equal share for each source: one large source must not push the tables of the others out.
    room = TABLE_TOKENS // len(found)
    return {label: tables_text(each, share_rows=share_rows, room=room) for label, each in found.items()}


async def links_between_sources(question: Question, dependencies: AgentDependencies, principal: Principal) -> str:
    merged = await dependencies.readers.merged(question, principal)
    return "" if merged is None else links_text(merged, merged.labels)


def known_values_text(found: Mapping[str, SchemaLinks], *, share_rows: bool) -> str:
    """The values that words of the question may mean in each source. A word is unknown only if no source knows it."""
    first, *others = found.values()
    unknown = tuple(word for word in first.unknown if all(word in each.unknown for each in others))
    values = [values_text(replace(each, unknown=()), share_rows=share_rows) for each in found.values()]
    values.append(values_text(replace(first, values=(), unknown=unknown), share_rows=share_rows))
    return "\n".join(filter(None, values))

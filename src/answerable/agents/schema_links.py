"""The tables and values of a source that the words of a question match, found by the reader's linker."""

import re
from calendar import day_name, month_abbr, month_name
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from answerable.agents.data_text import as_data, qualified, shortened
from answerable.core.catalog import Catalog, Column
from answerable.core.words import name_words, stem
from answerable.reader.linking.links import ValueMention
from answerable.reader.linking.scene import Scene, link_question
from answerable.reader.linking.tokens import QuestionToken, tokenize
from answerable.reader.linking.unknown_words import unknown_words
from answerable.reader.reader import Reader

_TOUCHED = 0.35
"""A table whose words score less than this share of the best one's is not what the question is about."""
_MIN_SCORE = 0.6
"""Columns and values that match less well than this often match by chance, so they do not count for their table."""
_FORMS = (re.compile(r"[-+]?\d[\d.,]*%?"), re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*"))
"""Numbers and dates that are stored as text: only another one is a value of their column."""
_VALUES = 12
_HOLDERS = 4
"""Columns that are named for one value."""
_OPERATION_WORDS = frozenset(
    stem(word)
    for word in (
        "number",
        "change",
        "total",
        "average",
        "share",
        "count",
        "list",
        "show",
        "difference",
        "rate",
        "growth",
    )
)
"""Words that say what is asked of the data."""
_CALENDAR = frozenset(name.lower() for name in (*month_name, *month_abbr, *day_name) if name)


@dataclass(frozen=True, slots=True)
class SchemaLinks:
    """The tables and values of one source that the words of a question match."""

    catalog: Catalog
    tables: tuple[str, ...]
    """All tables of the source. Those that match best come first, then the tables related to them."""
    values: tuple[str, ...]
    """`table.column, other.column = value`"""
    unknown: tuple[str, ...]
    touched: int = 0
    """How many of `tables`, from the first on, the question is about. The others are there for joins, or in case."""

    def touched_alone(self) -> "SchemaLinks":
        """These links, without tables that no word of the question touches."""
        return replace(self, tables=self.tables[: self.touched])


def schema_links(reader: Reader, question: str, *, share_personal: bool = False) -> SchemaLinks:
    """The links between words and schema. Without `share_personal`, they have no values of columns with personal
    data."""
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
    named = _words_of_names(catalog)
    values = [
        value
        for value in links.values
        if _is_found(source := reader.schema.columns[value.column].source, value)
        and (share_personal or source.sensitivity != "personal")
        and (value.quoted or _is_said_as_value(scene.question.tokens[value.start : value.end], value, named))
    ]
    unknown, partly = _partly_known(reader, _names_unknown(scene, question, named), share_personal=share_personal)
    values += partly
    about += _holders(reader, values, about)
    about += _bridges(catalog, about)
    tables = dict.fromkeys([*about, *best, *_neighbours(catalog, about), *(table.name for table in catalog.tables)])
    shared = catalog if share_personal else _impersonal(catalog)
    return SchemaLinks(shared, tuple(tables), _lines(reader, values, list(tables)), tuple(unknown), len(about))


def _lines(reader: Reader, values: Sequence[ValueMention], tables: Sequence[str]) -> tuple[str, ...]:
    """One line for each value, with the columns that hold it, those of the likeliest tables first."""
    columns: dict[str, list[str]] = {}
    places = {name: place for place, name in enumerate(tables)}
    for value in sorted(values, key=lambda v: (-v.score, places[_table_of(reader, v.column)])):
        column = qualified(_table_of(reader, value.column), reader.schema.columns[value.column].name)
        known = columns.setdefault(value.value, [])
        known += [column] if column not in known else []
    lines = (f"{', '.join(held[:_HOLDERS])} = {as_data(shortened(value))}" for value, held in columns.items())
    return tuple(lines)[:_VALUES]


def _holders(reader: Reader, values: Sequence[ValueMention], about: Sequence[str]) -> list[str]:
    """A table for each value that the question names and no table holds that it is about: orders *from Ulm*."""
    found: list[str] = []
    for value in {each.value: each for each in values}.values():
        held = [_table_of(reader, each.column) for each in values if each.value == value.value]
        found += held[:1] if not {*about, *found} & set(held) else []
    return found


def _names_unknown(scene: Scene, question: str, named: set[str]) -> list[str]:
    """Words like names that no name of the schema and no whole value matches."""
    return [
        word
        for word in unknown_words(scene).unknown
        if _is_like_a_name(word, question) and not named & {stem(w) for w in name_words(word)}
    ]


def _partly_known(
    reader: Reader, names: Sequence[str], *, share_personal: bool
) -> tuple[list[str], list[ValueMention]]:
    """The names that are a part of no value, and the values that the others are a word of: “United” is in United Air
    Lines Inc."""
    unknown: list[str] = []
    mentions: list[ValueMention] = []
    for name in names:
        found: list[ValueMention] = []
        for hit in reader.values.find(name, limit=_HOLDERS):
            column = reader.schema.column_of(hit.table, hit.column)
            if column is None or stem(name.lower()) not in {stem(word) for word in name_words(hit.value)}:
                continue
            if share_personal or reader.schema.columns[column].source.sensitivity != "personal":
                found.append(ValueMention(0, 0, column, hit.value, hit.score, quoted=False))
        mentions += found
        unknown += [] if found else [name]
    return unknown, mentions


def _is_said_as_value(phrase: Sequence[QuestionToken], value: ValueMention, named: set[str]) -> bool:
    """Whether words may be meant as a value. “Each day” asks for the column of days, not for the airport DAY, “the
    number of tracks” for no track called Numbers, and “the ten best” for no album called Ten; a capital says that a
    name is meant, but not that of the first word: “Fit a line” names no airport FIT."""
    if all(token.value is not None and not any(c.isdigit() for c in token.text) for token in phrase):
        return False
    if value.start == 0 and len(phrase) == 1 and phrase[0].text != value.value:
        return False
    plain = all(token.stem in named or token.stem in _OPERATION_WORDS for token in phrase)
    return not plain or any(token.capital for token in phrase)


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
    if column.distinct_count == 1:
        return False  # every row has it, so it narrows nothing
    # A single letter is found by accident, unless the column holds nothing but letters.
    if len(value.value) == 1 and any(len(example) > 1 for example in column.examples):
        return False
    alike = [pattern for pattern in _FORMS if column.examples and all(map(pattern.fullmatch, column.examples))]
    return all(pattern.fullmatch(value.value) for pattern in alike)


def _is_like_a_name(word: str, question: str) -> bool:
    """Whether a word may be meant as a value of the data: it has a capital inside the sentence, a digit, or quotes.
    That “depart” or “margin” is no value tells a model nothing."""
    if word.lower() in _CALENDAR or (len(word) == 1 and not word.isdigit()):
        return False
    quoted = re.search(rf"[\"'“‘]{re.escape(word)}[\"'”’]", question)
    inside = re.search(rf"[^.!?\s]\s+{re.escape(word)}\b", question)
    return bool(quoted) or any(c.isdigit() for c in word) or (word[:1].isupper() and bool(inside))


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

"""The question laid out: tokens with one tag each, the best cover of links, and the clause that each token is in."""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property

from answerable.core.catalog import ValueLookup
from answerable.core.records import dataclass
from answerable.reader.linking.cues import OPERATORS, WEAK, ComparisonOperator, Cue, find_cues
from answerable.reader.linking.everyday_words import ASKING_FOR_PEOPLE
from answerable.reader.linking.lexicon import STOPWORDS
from answerable.reader.linking.links import Links, Mention, ValueMention, link
from answerable.reader.linking.respelling import respelled
from answerable.reader.linking.schema import Schema
from answerable.reader.linking.tokens import QuestionToken, TokenizedQuestion
from answerable.reader.linking.units import is_unit

CLAUSES = ("main", "rel", "sort", "each", "neg", "super", "after_mark")
# A name scores 1.0 if every word of it is said; a plural or a dropped letter costs a little.
_SURELY_NAMED = 0.6
_HAVING = frozenset({"does", "do", "did", "has", "have", "had"})
_SAID_IN_FULL = 0.9
_ROW_WORDS = frozenset(
    {"row", "rows", "record", "records", "entry", "entries", "line", "lines", "observation", "observations"}
)
"""Words for what a table holds, whichever table that is."""
_OPENERS = {"REL": "rel", "SORT": "sort", "EACH": "each", "NEG": "neg"}


@dataclass
class Scene:
    question: TokenizedQuestion
    schema: Schema
    links: Links
    cues: list[Cue]
    tags: list[str]
    values: list[ValueMention]
    """The best values, one for each place; others of the same place are in `rivals`."""
    rivals: dict[tuple[int, int], list[ValueMention]]
    clause: list[str]
    clause_start: list[int]
    guessed: bool = False
    """Words were also linked to names that they only come near to in meaning."""
    tables: dict[int, list[Mention]] = field(default_factory=dict)
    columns: dict[int, list[Mention]] = field(default_factory=dict)

    @property
    def tokens(self) -> tuple[QuestionToken, ...]:
        return self.question.tokens

    @cached_property
    def words(self) -> list[str]:
        return [token.lower for token in self.question.tokens]

    def is_unit_of_number(self, place: int) -> bool:
        """Whether the word is the unit of the number before it: 10 minutes."""
        return place > 0 and self.tokens[place - 1].kind == "number" and is_unit(self.tokens[place].lower)

    @property
    def asks_who(self) -> bool:
        return not ASKING_FOR_PEOPLE.isdisjoint(self.words[:1])

    @cached_property
    def cue_tags(self) -> frozenset[str]:
        return frozenset(cue.tag for cue in self.cues)

    def cues_of(self, *tags: str) -> list[Cue]:
        return [cue for cue in self.cues if cue.tag in tags]

    @cached_property
    def numbers(self) -> list[int]:
        """Places of numbers that are no part of a value of the data."""
        return [place for place, tag in enumerate(self.tags) if tag in ("NUM", "DATE")]


def link_question(
    question: TokenizedQuestion,
    schema: Schema,
    values: ValueLookup,
    table: int | None = None,
    *,
    guessing: bool = False,
) -> Scene:
    """Links a question and lays it out. "How many rows are there" asks for the rows of `table`, or of the only table of
    the schema."""
    question = respelled(question, schema) if guessing else question
    links = link(question, schema, values, guessing=guessing)
    place = place_of_rows(question, links)
    only = 0 if len(schema.tables) == 1 else table
    if place is not None and only is not None:
        links = replace(links, tables=(*links.tables, Mention("table", only, place, place + 1, 1.0)))
    scene = build_scene(question, schema, links)
    scene.guessed = guessing
    return scene


def place_of_rows(question: TokenizedQuestion, links: Links) -> int | None:
    """Where the question speaks of rows. None if that word names something of the data, or if a table is named."""
    # "How many rows has the order table" names its table; half of a name ("line" of order_line) is no table yet.
    if any(mention.score >= _SURELY_NAMED for mention in links.tables):
        return None
    named = links.covered()
    return next((p for p, token in enumerate(question.tokens) if is_row_word(token.lower) and p not in named), None)


def is_row_word(word: str) -> bool:
    return word in _ROW_WORDS


def build_scene(question: TokenizedQuestion, schema: Schema, links: Links) -> Scene:
    cues = find_cues(question.tokens)
    links = replace(links, values=_owners(question, schema, links))
    links = replace(links, values=(*links.values, *_free_values(question, schema, links, cues)))
    values, rivals = _chosen_values(question, links, cues)
    tags = _tags(question, links, cues, values)
    clause, starts = _clauses(question, cues)
    scene = Scene(question, schema, links, cues, tags, values, rivals, clause, starts)
    for mention in links.tables:
        scene.tables.setdefault(mention.id, []).append(mention)
    for mention in links.columns:
        scene.columns.setdefault(mention.id, []).append(mention)
    return scene


def _owners(question: TokenizedQuestion, schema: Schema, links: Links) -> tuple[ValueMention, ...]:
    """The values without those that cannot be meant: who has the albums is not an album, if something else is called so
    ("how many albums does Iron Maiden have?")."""
    tokens = question.tokens
    owned = {
        mention.end + 1: mention.id
        for mention in links.tables
        if mention.score >= _SURELY_NAMED and mention.end < len(tokens) and tokens[mention.end].lower in _HAVING
    }
    tables = {(value.start, value.end): set[int]() for value in links.values}
    for value in links.values:
        tables[value.start, value.end].add(schema.columns[value.column].table)
    return tuple(
        value
        for value in links.values
        if owned.get(value.start) != schema.columns[value.column].table or len(tables[value.start, value.end]) == 1
    )


def _free_values(question: TokenizedQuestion, schema: Schema, links: Links, cues: list[Cue]) -> Iterator[ValueMention]:
    """Quoted text, and what follows "contains" or "starts with", need not be a value of the data: it may be looked
    for in any column that is mentioned, or that stands for a mentioned table."""
    spans = [(quote.start, quote.end, quote.text) for quote in question.quotes]
    known = {(value.start, value.end) for value in links.values if value.score >= 1.0}
    patterns = [cue for cue in cues if cue.tag in ("LIKE", "STARTS", "ENDS")]
    # Quotes show where the text is: with them, words after "contains" are not guessed.
    if not question.quotes:
        spans.extend(_after_pattern(question, patterns, _named_places(links)))
    for start, end, text in spans:
        if (start, end) in known and not patterns:
            continue
        for column in _text_columns(schema, links):
            yield ValueMention(start, end, column, text, 0.0, True)


def _after_pattern(
    question: TokenizedQuestion, patterns: list[Cue], named: Mapping[int, float]
) -> Iterator[tuple[int, int, str]]:
    """Not what is itself named in the data: counties that contain cities."""
    # Only the last pattern cue has its text right after it: "containing names that start with A".
    for cue in patterns[-1:]:
        for token in question.tokens[cue.end : cue.end + 1]:
            filler = len(token.text) > 1 and token.lower in STOPWORDS
            if token.kind in ("word", "number") and not filler and named.get(cue.end, 0.0) < _SAID_IN_FULL:
                yield cue.end, cue.end + 1, token.text


def _text_columns(schema: Schema, links: Links) -> list[int]:
    found = {m.id: m.score for m in links.columns if m.score > 0.45}
    for mention in links.tables:
        table = schema.tables[mention.id]
        # A pattern without a column is looked for in the names of the rows: customers that start with A.
        if mention.score > 0.45 and table.display is not None:
            found.setdefault(table.display, mention.score * 0.5)
    return sorted(found, key=lambda column: (-found[column], column))[:10]


def _chosen_values(
    question: TokenizedQuestion, links: Links, cues: list[Cue]
) -> tuple[list[ValueMention], dict[tuple[int, int], list[ValueMention]]]:
    """Non-overlapping values: quoted ones first, then the longest. A word that names a table or column, or that is a
    cue, is a value only when it is written with a capital or in quotes."""
    rivals: dict[tuple[int, int], list[ValueMention]] = {}
    for value in links.values:
        rivals.setdefault((value.start, value.end), []).append(value)
    named = _named_places(links)
    cue_places = {place for cue in cues for place in range(cue.start, cue.end) if cue.tag not in ("O",)}
    chosen: list[ValueMention] = []
    ranked = sorted(rivals, key=lambda span: _value_rank(rivals[span][0]))
    for span in ranked:
        best = rivals[span][0]
        if any(span[0] < other.end and other.start < span[1] for other in chosen):
            continue
        if not best.quoted and _is_ordinary(best, question, named, cue_places):
            continue
        chosen.append(best)
    chosen.sort(key=lambda value: value.start)
    return chosen, rivals


def _value_rank(value: ValueMention) -> tuple[bool, float, float]:
    return (not value.quoted, -(value.end - value.start), -value.score)


def _named_places(links: Links) -> dict[int, float]:
    named: dict[int, float] = {}
    for mention in (*links.tables, *links.columns):
        for place in range(mention.start, mention.end):
            named[place] = max(named.get(place, 0.0), mention.score)
    return named


def _is_ordinary(value: ValueMention, question: TokenizedQuestion, named: dict[int, float], cues: set[int]) -> bool:
    tokens = question.tokens[value.start : value.end]
    capital = any(token.capital for token in tokens) and value.start > 0
    # Two words that are both cues ("at least") are no value, even if some row holds them.
    if len(tokens) > 1 or capital:
        return all(place in cues for place in range(value.start, value.end)) and not capital
    if tokens[0].value is not None:
        return True
    place = value.start
    return (
        place in cues or named.get(place, 0.0) >= _SAID_IN_FULL or (value.score < 1.0 and named.get(place, 0.0) > 0.3)
    )


def _tags(question: TokenizedQuestion, links: Links, cues: list[Cue], values: list[ValueMention]) -> list[str]:
    # Later tags replace earlier ones: cues replace kinds of tokens, and values replace cues.
    tags = ["O"] * len(question.tokens)
    for place, token in enumerate(question.tokens):
        if token.kind == "number" or token.value is not None:
            tags[place] = "NUM"
        elif token.kind == "quoted":
            tags[place] = "QUOTE"
        elif token.kind == "date":
            tags[place] = "DATE"
        elif token.kind == "mark":
            tags[place] = "COMMA" if token.text == "," else "MARK"
    for cue in cues:
        for place in range(cue.start, cue.end):
            tags[place] = cue.tag
    for value in values:
        for place in range(value.start, value.end):
            tags[place] = "VAL"
    _tag_names(tags, links)
    return tags


def _tag_names(tags: list[str], links: Links) -> None:
    mentions = sorted(
        (*links.tables, *links.columns),
        # The root of the length: two words are better evidence than one, but not twice as good.
        key=lambda m: (-m.score * (m.end - m.start) ** 0.5, m.kind != "table", m.start),
    )
    taken: set[int] = set()
    for mention in mentions:
        places = range(mention.start, mention.end)
        if mention.score < 0.45 or any(place in taken or tags[place] == "VAL" for place in places):
            continue
        # A long name said in full wins over the cues in it: "number of employees" is a column, not a count.
        long = mention.end - mention.start > 1
        for place in places:
            if tags[place] in WEAK or (long and mention.score > 0.9 and tags[place] not in ("NUM", "QUOTE")):
                tags[place] = "TAB" if mention.kind == "table" else "COL"
        taken.update(places)


def _clauses(question: TokenizedQuestion, cues: list[Cue]) -> tuple[list[str], list[int]]:
    """For every token the kind of clause it stands in, and where that clause began."""
    opener = {cue.start: _OPENERS[cue.tag] for cue in cues if cue.tag in _OPENERS}
    kind, start = "main", 0
    kinds, starts = [], []
    for place, token in enumerate(question.tokens):
        # The first word opens no clause: "who" and "where" also begin main clauses.
        if place in opener and place > 0:
            kind, start = opener[place], place
        elif token.text in ("?", ".", ";") and place + 1 < len(question.tokens):
            kind, start = "after_mark", place + 1
        kinds.append(kind)
        starts.append(start)
    return kinds, starts


def is_negated(scene: Scene, place: int) -> bool:
    """A negation stands before, within the same clause or the one before it."""
    # Six words reach from "not" to the value in "customers who do not live in the city of Berlin".
    return any(cue.tag == "NEG" and 0 <= place - cue.end <= 6 for cue in scene.cues)


def comparison_at(scene: Scene, place: int) -> ComparisonOperator:
    """How a number is compared, from the cue before it ("more than 5") or after it ("5 or more")."""
    best: Cue | None = None
    for cue in scene.cues:
        if cue.tag not in OPERATORS:
            continue
        before, after = place - cue.end, cue.start - place - 1
        # Three words may lie between: "more than a total of 5". After the number only "or more" and "or less" count.
        if 0 <= before <= 3 or (0 <= after <= 1 and cue.tag in ("GE", "LE")):
            best = cue if best is None or abs(cue.start - place) < abs(best.start - place) else best
    if best is None:
        return "!=" if is_negated(scene, place) else "="
    return OPERATORS[best.tag]

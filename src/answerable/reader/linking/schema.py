"""The catalog prepared for reading: names as stems with an index, keys, display columns, and the join graph."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import field

from answerable.core.catalog import Catalog, Column, Measure, Relationship, Table, ValueLookup
from answerable.core.records import dataclass
from answerable.core.words import singular
from answerable.reader.linking.name_words import plain_words, spelled_out, split_name, stems, without_initial
from answerable.reader.linking.word_meanings import WordVector, is_person, is_place, word_vector

NUMERIC = frozenset({"integer", "number"})
TEMPORAL = frozenset({"date", "datetime"})
_FILLER = frozenset({"of", "the", "in", "and", "or", "for", "to", "a", "by", "is", "on", "at", "if", "ref"})
_SUFFIX_WORDS = """
mm cm m km g kg mg lb lbs ft sec secs hr hrs usd eur gbp pct jan feb mar apr may jun jul aug sep oct nov dec
"""
_SUFFIXES = frozenset(_SUFFIX_WORDS.split())
"""Units and dates at the end of a name (`flipper_length_mm`, `flights_jan1-14`): people leave them out."""
# Each text column costs up to four lookups of values, so wide schemas skip the comparison.
_MAX_COMPARED_COLUMNS = 400
_MAX_COMPARED_WORDS = 1_000
SHARED = ""
"""The name of a relationship that the catalog does not know."""
_DISPLAY_NAMES = ("name", "title", "full name", "label")
_FIRST_NAMES = frozenset({"first", "given", "fore", "personal"})
_LAST_NAMES = frozenset({"last", "family", "sur"})


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to say a name."""

    stems: tuple[str, ...]
    weights: tuple[float, ...]
    strength: float = 1.0
    """Below 1 for shortened or guessed forms."""


@dataclass(frozen=True, slots=True)
class SchemaElement:
    """Something in the schema that a phrase can mean: `id` counts within its kind."""

    kind: str
    id: int


@dataclass(slots=True)
class ColumnView:
    id: int
    table: int
    source: Column
    words: tuple[str, ...]
    variants: tuple[Variant, ...] = ()
    key: bool = False
    """Is the table's primary key, alone."""
    foreign: bool = False
    place: bool = False
    """Holds names of places."""
    people: bool = False
    """Holds names of people: `pilot`, `directed_by`."""

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def numeric(self) -> bool:
        return self.source.type in NUMERIC

    @property
    def temporal(self) -> bool:
        return self.source.type in TEMPORAL

    @property
    def looks_like_id(self) -> bool:
        return bool(self.words) and self.words[-1] in ("id", "code", "ssn", "key")


@dataclass(slots=True)
class TableView:
    id: int
    source: Table
    words: tuple[str, ...]
    variants: tuple[Variant, ...] = ()
    columns: tuple[int, ...] = ()
    key: int | None = None
    display: int | None = None
    """The column that people mean when they ask for the thing itself."""
    row_names: tuple[int, ...] = ()
    """The columns that name a row: first and last name together, else the display column."""
    bridge: bool = False
    """Only connects other tables."""
    people: bool = False
    places: bool = False

    @property
    def name(self) -> str:
        return self.source.name


@dataclass(frozen=True, slots=True)
class Edge:
    """A relationship as the join graph sees it, from either side."""

    relationship: Relationship
    start: int
    end: int
    cost: float
    pairs: tuple[tuple[int, int], ...]
    """Column of `start`, column of `end`."""


@dataclass(slots=True)
class Schema:
    catalog: Catalog
    tables: list[TableView] = field(default_factory=list)
    columns: list[ColumnView] = field(default_factory=list)
    measures: list[tuple[Measure, tuple[Variant, ...]]] = field(default_factory=list)
    edges: dict[int, list[Edge]] = field(default_factory=lambda: defaultdict(list))
    by_stem: dict[str, list[SchemaElement]] = field(default_factory=dict)
    by_prefix: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Stems by their first three letters."""
    column_ids: dict[tuple[str, str], int] = field(default_factory=dict)
    table_ids: dict[str, int] = field(default_factory=dict)
    word_vectors: dict[str, WordVector] = field(default_factory=dict)
    """What the words of names mean, by stem."""
    person_stems: tuple[str, ...] = ()
    """Stems of the tables whose rows are people."""

    def column_of(self, table: str, column: str) -> int | None:
        return self.column_ids.get((table, column))

    def variants_of(self, target: SchemaElement) -> tuple[Variant, ...]:
        if target.kind == "table":
            return self.tables[target.id].variants
        if target.kind == "column":
            return self.columns[target.id].variants
        return self.measures[target.id][1]


def build_schema(catalog: Catalog, values: ValueLookup | None = None) -> Schema:
    """Prepares a catalog for reading. With `values`, columns that hold the same values can be joined even if the
    catalog has no relationship between them."""
    schema = Schema(catalog)
    vocabulary = _vocabulary(catalog)
    frequency = _stem_frequency(catalog, vocabulary)
    for table in catalog.tables:
        _add_table(schema, table, vocabulary, frequency)
    for relationship in catalog.relationships:
        _add_edges(schema, relationship)
    if values is not None and len(schema.columns) <= _MAX_COMPARED_COLUMNS:
        _add_shared_domains(schema, values)
    _add_same_names(schema)
    _add_meanings(schema)
    for table_view in schema.tables:
        table_view.bridge = _is_bridge(schema, table_view)
        table_view.display = _display_column(schema, table_view)
        table_view.row_names = _row_names(schema, table_view)
    for number, measure in enumerate(catalog.measures):
        variants = _named_variants((measure.name, measure.label, *measure.synonyms), frequency)
        schema.measures.append((measure, variants))
        _index(schema, SchemaElement("measure", number), variants)
    return schema


def _vocabulary(catalog: Catalog) -> frozenset[str]:
    words: set[str] = set()
    for table in catalog.tables:
        words.update(split_name(table.name))
        for column in table.columns:
            words.update(split_name(column.name))
    return frozenset(word for word in words if len(word) > 2)


def _stem_frequency(catalog: Catalog, vocabulary: frozenset[str]) -> Mapping[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for table in catalog.tables:
        for column in table.columns:
            for stem in set(stems(spelled_out(split_name(column.name, vocabulary)))):
                counts[stem] += 1
    return counts


def _variant(words: Iterable[str], frequency: Mapping[str, int], strength: float = 1.0) -> Variant | None:
    words = tuple(words)
    if not words:
        return None
    # A word that many columns share says less about each of them.
    weights = tuple(
        0.1 if _is_minor(word, place) else 1.0 / (1.0 + 0.05 * frequency.get(stem, 0))
        for place, (word, stem) in enumerate(zip(words, stems(words), strict=True))
    )
    return Variant(stems(words), weights, strength)


def _is_minor(word: str, place: int) -> bool:
    """A word that a name is recognised without."""
    return word in _FILLER or (place > 0 and (word in _SUFFIXES or word.isdigit()))


def _named_variants(names: Iterable[str | None], frequency: Mapping[str, int]) -> tuple[Variant, ...]:
    found: dict[tuple[str, ...], Variant] = {}
    for name in names:
        words = split_name(name) if name else ()
        for form, strength in ((words, 1.0), (spelled_out(words), 0.95)):
            variant = _variant(form, frequency, strength)
            if variant and variant.stems not in found:
                found[variant.stems] = variant
    return tuple(found.values())


def _merge(*groups: Iterable[Variant | None]) -> tuple[Variant, ...]:
    found: dict[tuple[str, ...], Variant] = {}
    for group in groups:
        for variant in group:
            if variant and (variant.stems not in found or found[variant.stems].strength < variant.strength):
                found[variant.stems] = variant
    return tuple(found.values())


def _add_table(schema: Schema, table: Table, vocabulary: frozenset[str], frequency: Mapping[str, int]) -> None:
    words = split_name(table.name, vocabulary)
    view = TableView(len(schema.tables), table, words)
    # Nobody says these technical prefixes.
    plain = tuple(word for word in words if word not in ("ref", "tbl", "table", "dim", "fact")) or words
    view.variants = _merge(
        (
            _variant(plain, frequency),
            _variant(plain_words(table.name), frequency),
            _variant(spelled_out(plain), frequency, 0.95),
        ),
        _named_variants((table.label, *table.synonyms), frequency),
    )
    schema.tables.append(view)
    schema.table_ids[table.name] = view.id
    _index(schema, SchemaElement("table", view.id), view.variants)
    ids = []
    for column in table.columns:
        ids.append(_add_column(schema, view, column, vocabulary, frequency))
    view.columns = tuple(ids)
    if len(table.primary_key) == 1:
        view.key = schema.column_ids.get((table.name, table.primary_key[0]))
        if view.key is not None:
            schema.columns[view.key].key = True
    _name_the_id(schema, view)


def _name_the_id(schema: Schema, table: TableView) -> None:
    """The id of a table is just called id, whatever the column's full name."""
    ids = [c for c in table.columns if schema.columns[c].words[-1:] == ("id",)]
    chosen = table.key if table.key in ids else ids[0] if ids and ids[0] == table.columns[0] else None
    if chosen is not None:
        view = schema.columns[chosen]
        short = Variant(("id",), (1.0,), 0.92)
        view.variants = _merge(view.variants, (short,))
        if SchemaElement("column", chosen) not in schema.by_stem.get("id", ()):
            _index(schema, SchemaElement("column", chosen), (short,))


def _add_column(
    schema: Schema, table: TableView, column: Column, vocabulary: frozenset[str], frequency: Mapping[str, int]
) -> int:
    words = split_name(column.name, vocabulary)
    view = ColumnView(len(schema.columns), table.id, column, words)
    full = spelled_out(words)
    short = _without_table(full, spelled_out(table.words))
    own = 0.9 if column.label else 1.0  # people call it by its label rather than by its name
    view.variants = _merge(
        (
            _variant(words, frequency, own),
            _variant(plain_words(column.name), frequency, own),
            _variant(full, frequency, 0.97 * own),
            _variant(short, frequency, 0.95 * own),
            _variant(without_initial(words), frequency, 0.9 * own),
        ),
        _named_variants((column.label, *column.synonyms), frequency),
    )
    schema.columns.append(view)
    schema.column_ids[(table.name, column.name)] = view.id
    _index(schema, SchemaElement("column", view.id), view.variants)
    return view.id


def _without_table(words: tuple[str, ...], table_words: tuple[str, ...]) -> tuple[str, ...]:
    """`singer_name` of the table `singer` is also just `name`."""
    known = set(stems(table_words))
    cut = 0
    while cut < len(words) - 1 and stems((words[cut],))[0] in known:
        cut += 1
    return words[cut:] if cut else ()


def _index(schema: Schema, target: SchemaElement, variants: Iterable[Variant]) -> None:
    for stem in {stem for variant in variants for stem in variant.stems}:
        if stem not in schema.by_stem:
            schema.by_stem[stem] = []
            schema.by_prefix[stem[:3]].append(stem)
        schema.by_stem[stem].append(target)


def _add_edges(schema: Schema, relationship: Relationship) -> None:
    start = schema.table_ids.get(relationship.from_table)
    end = schema.table_ids.get(relationship.to_table)
    if start is None or end is None:
        return
    pairs = []
    for here, there in zip(relationship.from_columns, relationship.to_columns, strict=True):
        left = schema.column_of(relationship.from_table, here)
        right = schema.column_of(relationship.to_table, there)
        if left is None or right is None:
            return
        pairs.append((left, right))
        schema.columns[left].foreign = True
    # Join paths prefer relationships that are certain: these cost 1, guessed ones up to 2.
    cost = 1.0 + (1.0 - relationship.confidence)
    schema.edges[start].append(Edge(relationship, start, end, cost, tuple(pairs)))
    schema.edges[end].append(Edge(relationship, end, start, cost, tuple((b, a) for a, b in pairs)))


def _add_shared_domains(schema: Schema, values: ValueLookup) -> None:
    """A text column whose frequent values all occur in a unique column of another table can be joined with it."""
    related = {pair for edges in schema.edges.values() for edge in edges for pair in edge.pairs}
    for column in schema.columns:
        examples = [example for example in column.source.examples if example][:4]
        # One or two values can occur in another column by chance.
        if column.source.type != "text" or column.source.unique or len(examples) < 3:
            continue
        shared = [_columns_with(schema, values, example) for example in examples]
        for other in sorted(set.intersection(*shared)):
            there = schema.columns[other]
            if there.table != column.table and there.source.unique and (column.id, other) not in related:
                _add_domain_edge(schema, column, there)


def _add_same_names(schema: Schema) -> None:
    """A column that is called like the key of another table points there, where nothing else connects the two."""
    keys = {table.source.primary_key[0].lower(): table for table in schema.tables if table.key is not None}
    for column in schema.columns:
        there = keys.get(column.name.lower())
        if there is None or there.id == column.table or there.key is None or not column.looks_like_id:
            continue
        apart = all(edge.end != there.id for edge in schema.edges.get(column.table, ()))
        if apart and len(column.words) > 1 and column.source.type == schema.columns[there.key].source.type:
            _add_domain_edge(schema, column, schema.columns[there.key])


def _add_meanings(schema: Schema) -> None:
    names = [*(table.words for table in schema.tables), *(column.words for column in schema.columns)]
    words = dict.fromkeys(word for name in names for word in spelled_out(name) if len(word) > 2)
    # Each word of a question is compared with each of these, so wide schemas go without.
    if len(words) <= _MAX_COMPARED_WORDS:
        found = ((stems((word,))[0], word_vector(word) or word_vector(singular(word))) for word in words)
        schema.word_vectors = {name: vector for name, vector in found if vector is not None}
    for table in schema.tables:
        head = _head(table.words)
        # First and last names are those of people, whatever the table is called.
        table.people = is_person(head) or len(names_of_rows(schema, table.id)) == 2
        table.places = is_place(head)
    for column in schema.columns:
        text = column.source.type == "text"
        column.place = text and is_place(_head(column.words))
        named = column.words[:-1] if column.words[-1:] == ("name",) else column.words
        column.people = text and (is_person(_head(named)) or column.words[-1:] == ("by",))
    people = [stems(spelled_out(table.words)[-1:])[0] for table in schema.tables if table.people]
    schema.person_stems = tuple(dict.fromkeys(people))


def _head(words: tuple[str, ...]) -> str:
    """The last word of a name says what it is: a shop customer is a customer."""
    return singular(spelled_out(words)[-1]) if words else ""


def _columns_with(schema: Schema, values: ValueLookup, text: str) -> set[int]:
    hits = values.find(text, limit=20, least=1.0)
    return {number for hit in hits if (number := schema.column_of(hit.table, hit.column)) is not None}


def _add_domain_edge(schema: Schema, here: ColumnView, there: ColumnView) -> None:
    start, end = schema.tables[here.table], schema.tables[there.table]
    relationship = Relationship(
        name=SHARED,
        from_table=start.name,
        from_columns=(here.name,),
        to_table=end.name,
        to_columns=(there.name,),
        origin="inferred",
        confidence=0.3,
    )
    # 1.7 is the cost of any relationship with a confidence of 0.3.
    schema.edges[start.id].append(Edge(relationship, start.id, end.id, 1.7, ((here.id, there.id),)))
    schema.edges[end.id].append(Edge(relationship, end.id, start.id, 1.7, ((there.id, here.id),)))
    here.foreign = True


def _is_bridge(schema: Schema, table: TableView) -> bool:
    foreign = sum(schema.columns[c].foreign for c in table.columns)
    # One column besides the foreign keys is allowed, such as a key or a date.
    return foreign >= 2 and len(table.columns) - foreign <= 1


def _display_column(schema: Schema, table: TableView) -> int | None:
    """The column named name or title; else the first text column that is no key; else the key."""
    columns = [schema.columns[c] for c in table.columns]
    ranked = sorted(columns, key=lambda column: (_display_rank(column, table), column.id))
    return ranked[0].id if ranked else None


def names_of_rows(schema: Schema, table: int) -> tuple[int, ...]:
    """The columns that name a row: first and last name together, else the display column."""
    first = last = None
    for column in schema.tables[table].columns:
        words = spelled_out(schema.columns[column].words)
        if words[-1:] == ("name",):
            first = column if first is None and not _FIRST_NAMES.isdisjoint(words) else first
            last = column if last is None and not _LAST_NAMES.isdisjoint(words) else last
    if first is not None and last is not None:
        return (first, last)
    display = schema.tables[table].display
    return () if display is None else (display,)


def _row_names(schema: Schema, table: TableView) -> tuple[int, ...]:
    """A column that hardly tells rows apart (a zone, a sex) is no name: then a date or the key is, if any."""
    names = names_of_rows(schema, table.id)
    shown = schema.columns[names[0]] if len(names) == 1 else None
    distinct = 0 if shown is None else shown.source.distinct_count or 0
    if shown is None or _display_rank(shown, table) != 2 or distinct * 2 >= (table.source.row_count or 0):
        return names
    # A number that happens to be different in each row is what was measured.
    unique = [
        column
        for column in table.columns
        if schema.columns[column].source.unique and (column == table.key or not schema.columns[column].numeric)
    ]
    dates = [column for column in unique if schema.columns[column].temporal]
    return tuple((dates or ([table.key] if table.key is not None else unique))[:1])


def _display_rank(column: ColumnView, table: TableView) -> int:
    plain = " ".join(_without_table(column.words, table.words) or column.words)
    if plain in _DISPLAY_NAMES:
        return 0
    if column.words == table.words or column.words[-1:] in (("name",), ("title",)):
        return 1
    if column.source.type == "text" and not column.foreign and not column.looks_like_id:
        return 2
    return 3 if column.key else 4

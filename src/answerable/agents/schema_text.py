"""Tables, joins and values of sources as a model reads them.

Tables that the question touches are described. Others, those related to them first, are told by their columns while
little room is used, and else named: a model finds them with `search_schema`. With `share_rows: false` no value is said.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from answerable.agents.data_text import as_data, qualified, shortened
from answerable.agents.query_text import CYPHER
from answerable.agents.schema_links import SchemaLinks
from answerable.core.catalog import Catalog, Column, Relationship, Table
from answerable.models.tokens import likely

if TYPE_CHECKING:
    from answerable.query.merged import Merged

TABLE_TOKENS = 6_000
"""Token budget of the table descriptions. Tables beyond it, the least relevant ones, are only named."""
SPARE_TOKENS = 500
"""Columns of tables that the question does not touch are told as long as all descriptions stay below this."""
_NAMED_TOKENS = 600
"""Token budget of the names of tables that are not described."""
_LEAST_SURE = 0.8
"""Inferred relationships with less confidence than this are not stated as facts."""
_EXAMPLES = 3


def schema_texts(found: Mapping[str, SchemaLinks], *, share_rows: bool) -> dict[str, str]:
    # An equal share for each source: one large source must not push the tables of the others out.
    room = TABLE_TOKENS // len(found)
    return {label: tables_text(each, share_rows=share_rows, room=room) for label, each in found.items()}


def known_values_text(found: Mapping[str, SchemaLinks], *, share_rows: bool) -> str:
    """The values that words of the question may mean in each source. A word is unknown only if no source knows it."""
    first, *others = found.values()
    unknown = tuple(word for word in first.unknown if all(word in each.unknown for each in others))
    values = [values_text(replace(each, unknown=()), share_rows=share_rows) for each in found.values()]
    values.append(values_text(replace(first, values=(), unknown=unknown), share_rows=share_rows))
    return "\n".join(filter(None, values))


def values_text(found: SchemaLinks, *, share_rows: bool) -> str:
    """Values that words of the question may mean, and the words that match no name or value."""
    # Unknown words come from the question, not from the data, so they are shown even without `share_rows`.
    known = list(found.values) if share_rows else []
    unknown = (
        [f"no name or value matches: {', '.join(map(as_data, dict.fromkeys(found.unknown)))}"] if found.unknown else []
    )
    return "\n".join([*known, *unknown])


def tables_text(
    found: SchemaLinks,
    *,
    share_rows: bool,
    room: int = TABLE_TOKENS,
    spare: int = SPARE_TOKENS,
    code: str | None = None,
) -> str:
    """Describes the tables that the question touches as long as they fit into `room` tokens, others as long as all
    descriptions fit into `spare`. The rest is named. With `code`, only columns that occur in it are described."""
    catalog, parts, named, used = found.catalog, [], [], 0
    for place, name in enumerate(found.tables):
        table = catalog.table(name)
        touched = place < found.touched or not found.touched
        text = _described(table, catalog, share_rows=share_rows, code=code, touched=touched) if table else ""
        most = room if touched else min(room, spare)
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


def _described(table: Table, catalog: Catalog, *, share_rows: bool, code: str | None, touched: bool) -> str:
    """A table that the question does not touch is told in one line: enough to join it, or to know that it is there."""
    if not touched and catalog.dialect != CYPHER:
        rows = f", {table.row_count:,} rows" if table.row_count is not None else ""
        return f"table {as_data(table.name)}{rows}: {', '.join(f'{as_data(c.name)} {c.type}' for c in table.columns)}"
    return _description(_used(table, code), catalog, share_rows) + _unused(table, code)


def _used(table: Table, code: str | None) -> Table:
    """The table with the columns that occur in the code."""
    if code is None:
        return table
    return table.model_copy(update={"columns": tuple(c for c in table.columns if c.name.lower() in code)})


def _unused(table: Table, code: str | None) -> str:
    """The columns that do not occur in the code, by name only."""
    others = [as_data(c.name) for c in table.columns if code is not None and c.name.lower() not in code]
    return f"\n  and {', '.join(others)}" if others else ""


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


def _names(label: str | None, synonyms: Sequence[str]) -> str:
    called = [*([label] if label else []), *synonyms]
    return f" (called {', '.join(map(as_data, called))})" if called else ""


def _note(description: str | None) -> str:
    return f" -- {as_data(description)}" if description else ""


def _relationship(each: Relationship) -> str:
    pairs = zip(each.from_columns, each.to_columns, strict=True)
    same = " and ".join(f"{qualified(each.from_table, a)} = {qualified(each.to_table, b)}" for a, b in pairs)
    doubt = " (a guess: check it)" if _is_weak(each) else ""
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
            same = " and ".join(f"{qualified(start.table, a)} = {qualified(end.table, b)}" for a, b in pairs)
            one, other = as_data(labels[start.source]), as_data(labels[end.source])
            lines.append(f"rows of {one} and {other} belong together by {same}")
    return "\n".join(lines)

"""The catalog of what a person may see: without what is hidden, and with masked columns as they are shown."""

import re
from collections.abc import Iterator
from typing import Any

from answerable.access.policy import Mask
from answerable.access.view import Attributes, HiddenTable, SourceView, VisibleTable
from answerable.core.catalog import AccessNote, Catalog, Column, HiddenName, Link, Measure, Relationship, Table
from answerable.core.errors import UserError

_ATTRIBUTE = re.compile(r"\buser\.(\w+)")
_PLAIN_CONDITION = re.compile(r"(\w+)\s*=\s*(user\.\w+)")


def visible(catalog: Catalog, view: SourceView) -> Catalog:
    """The catalog as the person sees it. Figures and examples are not touched: they must come from statements that were
    rewritten for the person."""
    views = {table.name: view.table(table) for table in catalog.tables}
    shown = {name: found for name, found in views.items() if isinstance(found, VisibleTable)}
    tables = tuple(_table(table, shown[table.name]) for table in catalog.tables if table.name in shown)
    cut = catalog.model_copy(update={"tables": tables, "measures": ()})
    return cut.model_copy(
        update={
            "relationships": tuple(r for r in catalog.relationships if _joins(r, shown)),
            "measures": tuple(m for m in catalog.measures if _computes(m, cut, shown)),
            "links": tuple(link for link in catalog.links if _leads_out(link, shown)),
            "warnings": tuple(w for w in catalog.warnings if w.subject in shown),
            "secrets": tuple(s for s in catalog.secrets if s.table in shown and s.column not in shown[s.table].denied),
            "functions": (),  # functions of the database's own could read any table
            "hidden": tuple(_hidden(views)),
            "notes": tuple(_notes(shown, view)),
            "contact": view.contact,
        }
    )


def _table(table: Table, view: VisibleTable) -> Table:
    columns = tuple(
        _column(column, view.masks[column.name].mask if column.name in view.masks else None)
        for column in table.columns
        if column.name in view.columns
    )
    key = table.primary_key
    whole_key = all(name in view.columns and name not in view.masks for name in key)
    return table.model_copy(update={"columns": columns, "primary_key": key if whole_key else ()})


def _column(column: Column, mask: Mask | None) -> Column:
    if mask is None:
        return column
    update: dict[str, Any] = {"unique": False, "nullable": True, "value_names": ()}
    if mask.kind in ("hash", "partial"):
        update["type"] = "text"
    elif mask.kind == "bucket":
        update["type"] = "integer" if mask.size is not None else "date"
    return column.model_copy(update=update)


def _plain(view: VisibleTable | None, columns: tuple[str, ...]) -> bool:
    """Whether all of the columns are shown as they are."""
    return view is not None and all(name in view.columns and name not in view.masks for name in columns)


def _joins(relationship: Relationship, shown: dict[str, VisibleTable]) -> bool:
    return _plain(shown.get(relationship.from_table), relationship.from_columns) and _plain(
        shown.get(relationship.to_table), relationship.to_columns
    )


def _leads_out(link: Link, shown: dict[str, VisibleTable]) -> bool:
    if link.from_source is None and not _plain(shown.get(link.from_table), link.from_columns):
        return False
    return link.to_source is not None or _plain(shown.get(link.to_table), link.to_columns)


def _computes(measure: Measure, catalog: Catalog, shown: dict[str, VisibleTable]) -> bool:
    """Whether the measure uses only columns that are shown as they are: over masked ones it would be a wrong number."""
    from sqlglot import exp

    from answerable.query.sql.measures import parsed_measure

    if measure.table not in shown:
        return False
    try:
        tree = parsed_measure(measure, catalog)
    except UserError:
        return False
    return _plain(shown[measure.table], tuple(column.name for column in tree.find_all(exp.Column)))


def _hidden(views: dict[str, VisibleTable | HiddenTable]) -> Iterator[HiddenName]:
    for name, view in views.items():
        if isinstance(view, HiddenTable):
            yield HiddenName(table=name, rule=view.rule.name if view.rule else None)
        else:
            for column, rule in view.denied.items():
                yield HiddenName(table=name, column=column, rule=rule.name if rule else None)


def _notes(shown: dict[str, VisibleTable], view: SourceView) -> Iterator[AccessNote]:
    for name, seen in shown.items():
        for rule in seen.rows:
            yield AccessNote(table=name, rule=rule.name, effect=told_rows(rule.rows or "", view.attributes))
        for column, masked in seen.masks.items():
            yield AccessNote(table=name, column=column, rule=masked.rule.name, effect=_told_mask(column, masked.mask))


def told_rows(condition: str, attributes: Attributes) -> str:
    """The condition in words, with the person's own attributes in it."""

    def values(found: re.Match[str]) -> str:
        return " or ".join(attributes.get(found[1], ("(not known)",)))

    if plain := _PLAIN_CONDITION.fullmatch(condition.strip()):
        return f"rows of {plain[1]} {_ATTRIBUTE.sub(values, plain[2])} only"
    return f"rows where {_ATTRIBUTE.sub(values, condition)} only"


def _told_mask(column: str, mask: Mask) -> str:
    if mask.kind == "bucket":
        return f"{column} is shown in steps of {mask.size or f'a {mask.unit}'}"
    shown = {"null": "is not shown", "hash": "is shown as a code", "partial": "is shown in part"}[mask.kind]
    return f"{column} {shown}"

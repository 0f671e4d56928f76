"""Tables that have the same name in several sources: the user chooses one, unless the question names its source."""

from collections.abc import Iterator

from answerable.core.errors import UserError
from answerable.core.values import Json
from answerable.core.words import normalise
from answerable.engine.steps.understand import Question
from answerable.query.merged import Merged, short_name
from answerable.query.plan import QueryPlan
from answerable.reader.explaining.sentence import sentence
from answerable.reader.reading import Read, Reply, Unsure

_MOST_READINGS = 5


def with_same_named_tables(reply: Read, question: Question, merged: Merged) -> Reply:
    """Offers the same reading over each table whose name equals that of a table in the reading."""
    plan = reply.best.plan.model_dump(mode="json")
    readings = [
        reply.best.model_copy(update={"plan": other, "sentence": sentence_of_other, "sql": None})
        for other, sentence_of_other in _alternatives(plan, question.text, merged)
    ]
    if question.force or not readings:
        return reply
    return Unsure(
        question="Several sources have a table of this name. Which do you mean?",
        readings=tuple([reply.best, *readings][:_MOST_READINGS]),
    )


def _alternatives(plan: Json, text: str, merged: Merged) -> Iterator[tuple[QueryPlan, str]]:
    words = set(normalise(text).split())
    for name in sorted(_names(plan) & merged.origins.keys()):
        own = merged.origins[name]
        if set(normalise(short_name(own.source)).split()) <= words:
            continue  # the question names the source of this table, so the table is not ambiguous
        for other, origin in merged.origins.items():
            if other != name and origin.table.casefold() == own.table.casefold():
                renamed = QueryPlan.model_validate(_renamed(plan, name, other))
                try:
                    yield renamed, sentence(renamed, merged.catalog)
                except UserError:
                    continue  # the other table lacks a column that the plan needs


def _names(document: Json) -> set[str]:
    """The tables that a plan uses, its sub-plans included."""
    if isinstance(document, list):
        return set().union(*map(_names, document))
    if not isinstance(document, dict):
        return set()
    own = {value for key, value in document.items() if key in ("entity", "table") and value}
    return own.union(*map(_names, document.values()))


def _renamed(document: Json, name: str, other: str) -> Json:
    """The plan with the table `other` in place of `name`."""
    if isinstance(document, list):
        return [_renamed(item, name, other) for item in document]
    if not isinstance(document, dict):
        return document
    return {
        key: other if key in ("entity", "table", "via") and value == name else _renamed(value, name, other)
        for key, value in document.items()
    }

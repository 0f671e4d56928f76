"""What a model is told of a question and its sources before anything is planned."""

from collections.abc import Mapping
from dataclasses import replace

from answerable.agents.context import (
    TABLE_TOKENS,
    Touched,
    earlier_text,
    links_text,
    tables_text,
    touched,
    values_text,
)
from answerable.agents.means import ModelMeans
from answerable.agents.reader_mind import FAIRLY_SURE
from answerable.agents.several import by_label
from answerable.engine.steps.understand import Conversation, Question
from answerable.reader.reading import Reading


async def told_of(question: Question, before: Conversation, best: Reading | None, means: ModelMeans) -> dict[str, str]:
    """`best`: how the reader reads it, if it does. One that it hardly believes itself would only mislead."""
    tables, values = await told_of_sources(question, means)
    reader = await means.mind.reader(await means.mind.asked(question))
    return {
        "question": question.text,
        "today": (question.today or reader.today()).isoformat(),
        "sources": tables,
        "values": values,
        "earlier": earlier_text(before),
        "reading": best.sentence if best is not None and best.confidence >= FAIRLY_SURE else "",
    }


async def told_of_sources(question: Question, means: ModelMeans) -> tuple[str, str]:
    """The tables of every source that the question is about, and what its words may mean in them."""
    found = await touched_by(question, means)
    schemas = schemas_of(found, share_rows=means.share_rows)
    tables = [f"source {label}\n{schema}" for label, schema in schemas.items()]
    tables.append(await links_between(question, means))
    return "\n".join(filter(None, tables)), values_of(found, share_rows=means.share_rows)


async def touched_by(question: Question, means: ModelMeans) -> dict[str, Touched]:
    """What the linker found in each source, by what the source is called."""
    return {
        label: touched(await means.mind.reader(await means.sources.get(name)), question.text)
        for label, name in by_label(question).items()
    }


def schemas_of(found: Mapping[str, Touched], *, share_rows: bool) -> dict[str, str]:
    room = TABLE_TOKENS // len(found)
    return {label: tables_text(each, share_rows=share_rows, room=room) for label, each in found.items()}


async def links_between(question: Question, means: ModelMeans) -> str:
    merged = await means.mind.merged(question)
    return "" if merged is None else links_text(merged, merged.labels)


def values_of(found: Mapping[str, Touched], *, share_rows: bool) -> str:
    """A word is unknown only if no source knows it."""
    first, *others = found.values()
    unknown = tuple(word for word in first.unknown if all(word in each.unknown for each in others))
    values = [values_text(replace(each, unknown=()), share_rows=share_rows) for each in found.values()]
    values.append(values_text(replace(first, values=(), unknown=unknown), share_rows=share_rows))
    return "\n".join(filter(None, values))

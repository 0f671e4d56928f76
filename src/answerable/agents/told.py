"""What a model is told of a question and its sources before anything is planned."""

from dataclasses import replace

from answerable.agents.context import TABLE_TOKENS, earlier_text, links_text, tables_text, touched, values_text
from answerable.agents.means import ModelMeans
from answerable.agents.several import by_label
from answerable.engine.steps.understand import Conversation, Question
from answerable.reader.reading import Reading


async def told_of(question: Question, before: Conversation, best: Reading | None, means: ModelMeans) -> dict[str, str]:
    """`best`: how the reader reads it, if it does."""
    tables, values = await told_of_sources(question, means)
    reader = await means.mind.reader(await means.mind.asked(question))
    return {
        "question": question.text,
        "today": (question.today or reader.today()).isoformat(),
        "sources": tables,
        "values": values,
        "earlier": earlier_text(before),
        "reading": best.sentence if best is not None else "",
    }


async def told_of_sources(question: Question, means: ModelMeans) -> tuple[str, str]:
    """The tables of every source that the question is about, and what its words may mean in them.

    A word is unknown only if no source knows it."""
    labels, share_rows = by_label(question), means.share_rows
    found = [touched(await means.mind.reader(await means.sources.get(name)), question.text) for name in labels.values()]
    room = TABLE_TOKENS // len(found)
    tables = [
        f"source {label}\n{tables_text(each, share_rows=share_rows, room=room)}"
        for label, each in zip(labels, found, strict=True)
    ]
    merged = await means.mind.merged(question)
    if merged is not None:
        tables.append(links_text(merged, {source: label for label, source in labels.items()}))
    unknown = tuple(word for word in found[0].unknown if all(word in each.unknown for each in found))
    values = [values_text(replace(each, unknown=()), share_rows=share_rows) for each in found]
    values.append(values_text(replace(found[0], values=(), unknown=unknown), share_rows=share_rows))
    return "\n".join(filter(None, tables)), "\n".join(filter(None, values))

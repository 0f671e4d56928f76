"""The variables of a prompt about a whole question: its sources, values, date and earlier conversation."""

from answerable.agents.conversation_text import conversation_text
from answerable.agents.data_text import as_data
from answerable.agents.dependencies import AgentDependencies
from answerable.agents.federation import by_label
from answerable.agents.query_text import CYPHER
from answerable.agents.reader_graphs import FAIRLY_SURE
from answerable.agents.schema_links import SchemaLinks, schema_links
from answerable.agents.schema_text import known_values_text, links_text, schema_texts
from answerable.core.catalog import Catalog
from answerable.core.context import Principal
from answerable.engine.steps.understand import Conversation, Question
from answerable.reader.reading import Reading


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


async def links_between_sources(question: Question, dependencies: AgentDependencies, principal: Principal) -> str:
    merged = await dependencies.readers.merged(question, principal)
    return "" if merged is None else links_text(merged, merged.labels)

"""What each phrase of the question became, for showing beside the answer."""

from answerable.answers.answer import Binding
from answerable.reader.draft import Draft, all_drafts, own_columns
from answerable.reader.lexicon import GENERIC, STOPWORDS
from answerable.reader.scene import Scene

UNUSED = "not used"


def bindings_of(scene: Scene, draft: Draft) -> tuple[Binding, ...]:
    """Columns, tables and values in the order of the question, then the words that took no part."""
    found: dict[tuple[int, int], str] = {}
    drafts = all_drafts(draft)
    columns = {column for d in drafts for column in own_columns(d)}
    tables = {d.entity for d in drafts} | {t for d in drafts for t in d.extra}
    tables |= {scene.schema.columns[column].table for column in columns}
    for number in tables:
        for mention in scene.tables.get(number, ()):
            if mention.score > 0.45:
                found[(mention.start, mention.end)] = scene.schema.tables[number].name
    for column in columns:
        for mention in scene.columns.get(column, ()):
            if mention.score > 0.45:
                found[(mention.start, mention.end)] = _name(scene, column)
    for d in drafts:
        for condition in (c for clause in d.where for c in clause):
            for value in scene.links.values:
                if value.column == condition.left.column and value.value == condition.right:
                    found[(value.start, value.end)] = f"{_name(scene, value.column)} {condition.operator} {value.value}"
    bound = [Binding(phrase=scene.question.span_text(*span), meaning=found[span]) for span in sorted(found)]
    return (*bound, *_unused(scene, found))


def _name(scene: Scene, column: int) -> str:
    view = scene.schema.columns[column]
    return f"{scene.schema.tables[view.table].name}.{view.name}"


def _unused(scene: Scene, found: dict[tuple[int, int], str]) -> list[Binding]:
    covered = {place for start, end in found for place in range(start, end)}
    return [
        Binding(phrase=token.text, meaning=UNUSED)
        for place, (token, tag) in enumerate(zip(scene.tokens, scene.tags, strict=True))
        if place not in covered
        and tag in ("O", "VAL", "QUOTE")
        and token.kind in ("word", "quoted")
        and token.lower not in STOPWORDS
        and token.lower not in GENERIC
    ]

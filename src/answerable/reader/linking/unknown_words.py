"""Which words of a question found no counterpart, and whether enough was understood to go on."""

from collections.abc import Sequence

from answerable.core.records import dataclass
from answerable.reader.linking.lexicon import GENERIC, STOPWORDS
from answerable.reader.linking.scene import Scene
from answerable.reader.reading import Unreadable

# Words with a weaker link than this count as unknown: a near miss is rather a guess.
_LEAST_LINK = 0.45
# Only a table that is surely meant makes the word before it a description: major cities.
_SURE_LINK = 0.6
# If most of the content is unknown, no reading can be honest, and readings to choose from would only distract.
_MOST_UNKNOWN = 0.5


@dataclass(frozen=True, slots=True)
class UnknownWords:
    unknown: tuple[str, ...]
    """Content words that nothing in the data answers to, as they were written."""
    share: float
    """The share of the content words that is unknown."""
    linked: bool
    """Something of the data is mentioned."""
    truncated: bool
    named: tuple[str, ...]
    """Unknown words that look like names, were quoted, or describe what is asked about (major cities): to drop one
    would change the question."""

    @property
    def hopeless(self) -> bool:
        return not self.linked or self.truncated or (self.share > _MOST_UNKNOWN and len(self.unknown) > 1)

    @property
    def serious(self) -> bool:
        return bool(self.named) or self.share > 0.34

    def reply(self) -> Unreadable:
        if self.truncated:
            return Unreadable(message="The question is too long to be read safely. Please ask it in a few sentences.")
        if not self.unknown:
            return Unreadable(message="Nothing in the data matches this question.")
        return Unreadable(message=f"{_not_understood(self.unknown[:8])} in this data.", unknown=self.unknown)

    def question(self) -> str:
        if self.unknown:
            return f"{_not_understood(self.unknown[:4])}. Which of these do you mean?"
        return "Which of these do you mean?"


def asks_what_comes_near(unknown: UnknownWords) -> str:
    """What to ask back if every word was guessed: none of them is to blame."""
    named = ", ".join(dict.fromkeys(f"“{word}”" for word in unknown.unknown[:4]))
    if not named:
        return "Which of these do you mean?"
    return f"No name in this data is called {named}; these come near. Which do you mean?"


def _not_understood(words: Sequence[str]) -> str:
    named = dict.fromkeys(f"“{word}”" for word in words)
    return f"{', '.join(named)} {'was' if len(named) == 1 else 'were'} not understood"


def unknown_words(scene: Scene) -> UnknownWords:
    linked = _linked_places(scene)
    described = {mention.start for mention in scene.links.tables if mention.score >= _SURE_LINK}
    unknown, named, content = [], [], 0
    for place, (token, tag) in enumerate(zip(scene.tokens, scene.tags, strict=True)):
        if token.kind in ("mark", "number", "date") or token.value is not None:
            continue
        if tag != "O" and place not in linked and tag not in ("VAL", "QUOTE"):
            continue
        if token.lower in STOPWORDS and place not in linked:
            continue
        content += 1
        if place in linked or token.lower in GENERIC or token.stem in GENERIC or scene.is_unit_of_number(place):
            continue
        unknown.append(token.text)
        # The first word of a sentence has a capital anyway.
        if (token.capital and place > 0) or token.kind == "quoted" or place + 1 in described:
            named.append(token.text)
    share = len(unknown) / content if content else 1.0
    return UnknownWords(tuple(unknown), share, bool(linked), scene.question.truncated, tuple(named))


def empty_tables(scene: Scene) -> tuple[str, ...]:
    """The tables that the question mentions, or all tables if it mentions none, provided that none of them has a row.
    Without rows neither values nor types are known, so a guess at the meaning of the question would be idle."""
    schema = scene.schema
    mentioned = {*scene.tables, *(schema.columns[column].table for column in scene.columns)}
    tables = [schema.tables[table].source for table in sorted(mentioned) or range(len(schema.tables))]
    return tuple(table.name for table in tables) if all(table.row_count == 0 for table in tables) else ()


def no_rows_reply(tables: Sequence[str]) -> Unreadable:
    names = " and ".join(filter(None, (", ".join(tables[:-1]), tables[-1])))
    verb = "has" if len(tables) == 1 else "have"
    return Unreadable(message=f"{names} {verb} no rows, so there is nothing to answer from.")


def _linked_places(scene: Scene) -> set[int]:
    found: set[int] = set()
    for mention in (*scene.links.tables, *scene.links.columns, *scene.links.measures):
        if mention.score >= _LEAST_LINK:
            found.update(range(mention.start, mention.end))
    for value in scene.links.values:
        found.update(range(value.start, value.end))
    return found

"""The index of the distinct values of text columns: which value in the data does a phrase of a question mean?

`value_forms` says by which forms a value is found, `value_build` how the file comes about.
"""

import asyncio
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from answerable.core.catalog import Catalog, Column, Table, ValueHit, Warning
from answerable.core.errors import OperatorError
from answerable.core.progress import Progress, no_progress
from answerable.core.spelling import allowed_slips, slips
from answerable.core.words import fold, stemmed
from answerable.sources.sql.probe import Probe
from answerable.sources.sql.value_build import IndexLimits, ValueReader, file_name, piece, up_to_date
from answerable.sources.value_forms import PIECES, misspelt_length, normal_form, other_numbers, shared_pieces

_LONGEST_PHRASE = 400
_REMEMBERED = 4096
"""Phrases: questions about one source say the same words again and again, and an index never changes."""
_MOST_CANDIDATES = 2_000
"""Values that share one piece: when there are more, the piece says too little."""
_MOST_FORMS = 300
_MOST_COLUMNS = 1_000
_WHOLE_VALUE = 0.85
_BESIDE_A_NAME = 0.97
"""A phrase that is only part of a value fits less than this."""
_INITIALS = 0.75
_SHARING = tuple(
    f"SELECT normal FROM json_each(?) AS asked CROSS JOIN entries "  # noqa: S608 only constants
    f"ON {piece(number)} = asked.value ->> 1 AND size = asked.value ->> 0 AND size > 0 LIMIT ?"
    for number in range(PIECES)
)
"""Pieces come with the length of the values that have them."""

Place: TypeAlias = tuple[str, str]
"""Table and column."""
Found: TypeAlias = dict[str, float]
"""Normal forms of values and how well they fit."""


class ValueIndex:
    """Use `await ValueIndex.open(…)`. `find` may be called from any thread."""

    def __init__(self, path: Path, catalog: Catalog) -> None:
        self._path = path
        self._catalog = catalog
        self._connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
        self._lock = threading.Lock()  # not every build of SQLite may be used by two threads at a time
        rows = self._connection.execute("SELECT id, table_name, name, notice FROM columns").fetchall()
        self._columns = {number: (table, column) for number, table, column, _ in rows}
        self._order = {place: number for number, place in enumerate((t.name, c.name) for t, c in _columns(catalog))}
        self._named = _named_values(catalog)
        self._remembered = lru_cache(_REMEMBERED)(self._find)
        self.notices = tuple(Warning(subject=f"{t}.{c}", message=notice) for _, t, c, notice in rows if notice)

    @classmethod
    async def open(
        cls,
        cache: Path,
        catalog: Catalog,
        probe: Probe,
        *,
        limits: IndexLimits | None = None,
        progress: Progress = no_progress,
        reader: type[ValueReader] | None = None,
    ) -> "ValueIndex":
        """The index of the catalog's values as they are now; reads only tables that changed since it was last built."""
        path = cache / file_name(catalog)
        await up_to_date(path, catalog, probe, limits or IndexLimits(), progress, reader)
        return await asyncio.to_thread(cls, path, catalog)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens the file for itself."""
        return ValueIndex, (self._path, self._catalog)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def find(self, phrase: str, limit: int = 8, least: float = 0.0) -> tuple[ValueHit, ...]:
        return self._remembered(phrase, limit, least)

    def _find(self, phrase: str, limit: int, least: float) -> tuple[ValueHit, ...]:
        phrase = phrase[: _LONGEST_PHRASE + 1].encode("utf-8", "replace").decode()
        normal = normal_form(phrase)
        if not normal or len(phrase) > _LONGEST_PHRASE:
            return ()
        try:
            with self._lock:
                ranked = self._ranked(phrase, normal, least)
                found = list(islice((hit for hit in ranked if hit[2] >= least), limit))
        except sqlite3.DatabaseError as error:
            self._path.unlink(missing_ok=True)
            raise OperatorError(
                f"The index of values is damaged: {error}",
                code="value_index_damaged",
                hint="It has been removed and is built again with the next question.",
            ) from error
        return tuple(
            ValueHit(table=table, column=column, value=value, score=round(score, 4))
            for (table, column), value, score in found
        )

    def _ranked(self, phrase: str, normal: str, least: float) -> Iterator[tuple[Place, str, float]]:
        """Best first. A misspelling is thought of only when nothing is spelt like the phrase."""
        search = _Search(self._connection, normal)
        seen: set[tuple[Place, str]] = set()
        same = search.same() | search.same_stems()
        named = [(place, value, 1.0) for place, value in self._named.get(normal, ())]
        # What the phrase was said to mean goes before values that happen to be spelt so.
        most = _BESIDE_A_NAME if named else 1.0
        sure = ((place, value, min(score, most)) for place, value, score in self._resolved(same, phrase))
        for place, value, score in chain(named, sure):
            if (place, value) not in seen:
                seen.add((place, value))
                yield place, value, score
        others = search.longer() if least < _WHOLE_VALUE else {}
        if not seen:
            others |= search.misspelt(least)
        if least <= _INITIALS and _is_initialism(phrase):
            others |= search.initials()
        rest = self._resolved(others, phrase)
        yield from (hit for hit in rest if hit[:2] not in seen)

    def _resolved(self, found: Found, phrase: str) -> Iterator[tuple[Place, str, float]]:
        """The values behind the forms, best form first."""
        query = "SELECT column_id, value FROM entries WHERE normal = ? LIMIT ?"
        folded = fold(phrase)
        for normal, score in sorted(found.items(), key=lambda item: (-item[1], len(item[0]), item[0])):
            rows = self._connection.execute(query, (normal, _MOST_COLUMNS)).fetchall()
            # A value that differs from the phrase in more than case, accents and blanks scores a little less than 1.
            hits = [
                (self._columns[column], value, score if score < 1 or fold(value) == folded else 0.99)
                for column, value in rows
            ]
            yield from sorted(hits, key=lambda hit: (-hit[2], self._order.get(hit[0], 0), hit[1]))


def _is_initialism(phrase: str) -> bool:
    letters = phrase.strip().replace(".", "")
    return letters.isupper() and letters.isalpha() and 3 <= len(letters) <= 6


def _columns(catalog: Catalog) -> Iterator[tuple[Table, Column]]:
    return ((table, column) for table in catalog.tables for column in table.columns)


def _named_values(catalog: Catalog) -> Mapping[str, list[tuple[Place, str]]]:
    """What `semantic.yaml` calls a value, by its normal form."""
    named: dict[str, list[tuple[Place, str]]] = defaultdict(list)
    for table, column in _columns(catalog):
        for name in column.value_names:
            for synonym in name.synonyms:
                named[normal_form(synonym)].append(((table.name, column.name), name.value))
    return named


# Searching


class _Search:
    """Each way to search gives the forms that it finds."""

    def __init__(self, connection: sqlite3.Connection, normal: str) -> None:
        self._connection = connection
        self._normal = normal
        self._words = normal.split()

    def same(self) -> Found:
        return dict.fromkeys(self._normals("normal = ?", self._normal), 1.0)

    def same_stems(self) -> Found:
        if len(self._words) == 1:
            forms = list(other_numbers(self._normal))
            found = self._normals(f"normal IN ({_marks(forms)})", *forms) if forms else []
        else:
            stems = stemmed(self._normal)
            found = [normal for normal in self._having_together if stemmed(normal) == stems]
        return {normal: 0.95 for normal in found if normal != self._normal}

    def initials(self) -> Found:
        return dict.fromkeys(self._normals("initials = ?", self._normal), _INITIALS)

    def misspelt(self, least: float) -> Found:
        if not misspelt_length(self._normal) or self._with_slips(1) < least:
            return {}
        letters, most = set(self._normal), 2 * allowed_slips(len(self._normal))
        pieces = enumerate(shared_pieces(self._normal))
        sharing = {normal for number, shared in pieces for normal in self._sharing(number, shared)}
        # Each slip takes a letter away, brings one in, or both: that dismisses most.
        near = (normal for normal in sharing if len(letters.symmetric_difference(normal)) <= most)
        counts = {normal: _slips(self._normal, normal) for normal in near}
        return {normal: self._with_slips(n) for normal, n in counts.items() if n is not None}

    def _with_slips(self, count: int) -> float:
        # Always below the 0.95 of another form of the same word.
        return 0.94 - 0.5 * count / len(self._normal)

    def longer(self) -> Found:
        """Values that have all words of the phrase and more, or that go on where it ends."""
        if max(map(len, self._words)) < 3:
            return {}
        having = self._having_together or self._having(" ".join(f'"{word}"' for word in self._words))
        found = {normal: score for normal in having if (score := _part_score(self._normal, normal))}
        for normal in self._continuing() if len(self._normal) >= 4 else ():
            found.setdefault(normal, 0.6 + 0.15 * len(self._normal) / len(normal))
        return found

    # Reading the file

    def _normals(self, condition: str, *values: str) -> list[str]:
        query = f"SELECT DISTINCT normal FROM entries WHERE {condition} LIMIT {_MOST_FORMS}"  # noqa: S608 constants
        return [normal for (normal,) in self._connection.execute(query, values)]

    def _continuing(self) -> list[str]:
        # The greatest character there is: whatever begins with the phrase sorts before it.
        return self._normals("normal > ? AND normal < ?", self._normal, self._normal + "\U0010ffff")

    def _sharing(self, number: int, pieces: Collection[tuple[int, str]]) -> Iterator[str]:
        """The values that have one of the pieces at its place, each with the length that it comes with."""
        most = _MOST_CANDIDATES * len(pieces)
        rows = self._connection.execute(_SHARING[number], (orjson.dumps(list(pieces)).decode(), most))
        return (normal for (normal,) in rows)

    @cached_property
    def _having_together(self) -> list[str]:
        return self._having(f'"{self._normal}"')

    def _having(self, query: str) -> list[str]:
        """What has these words, or other forms of them."""
        rows = self._connection.execute("SELECT rowid FROM words WHERE words MATCH ? LIMIT ?", (query, _MOST_FORMS))
        numbers = [number for (number,) in rows]
        if not numbers:
            return []
        query = f"SELECT DISTINCT normal FROM entries WHERE id IN ({_marks(numbers)})"  # noqa: S608 only marks
        return [normal for (normal,) in self._connection.execute(query, numbers)]


def _marks(values: Collection[object]) -> str:
    return ",".join("?" * len(values))


def _slips(phrase: str, normal: str) -> int | None:
    """Returns None if a digit differs: another number is another thing, not a slip."""
    most = min(allowed_slips(len(phrase)), allowed_slips(len(normal)))
    count = slips(phrase, normal, most)
    return None if count is None or _digits(phrase) != _digits(normal) else count


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def _part_score(phrase: str, normal: str) -> float:
    """The score of the first words of a value, of words in its midst, and of words scattered in it."""
    stems, value = stemmed(phrase), stemmed(normal)
    coverage = min(0.99, len(phrase) / len(normal))
    if value == stems:
        return 0.0
    if value.startswith(stems + " "):
        return 0.8 + 0.05 * coverage
    if f" {stems} " in f" {value} ":
        return 0.75 + 0.05 * coverage
    return 0.65 + 0.05 * coverage if set(stems.split()) <= set(value.split()) else 0.0

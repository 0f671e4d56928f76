"""The index of the distinct values of text columns: which value in the data does a phrase of a question mean?

`value_postings` says how values are filed and found, `value_build` how the file comes about.
"""

import asyncio
import sqlite3
import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from answerable.core.catalog import Catalog, ValueHit, Warning
from answerable.core.errors import OperatorError
from answerable.core.spelling import allowed_slips, slips
from answerable.core.words import fold, stemmed
from answerable.sources import value_postings as filing
from answerable.sources.base import Probe
from answerable.sources.profile import chunked
from answerable.sources.value_build import IndexLimits, file_name, up_to_date
from answerable.sources.value_postings import normal_form

_LONGEST_PHRASE = 400
_MOST_POSTINGS = 2_000
"""Of one key that a search looks at: what more values than that share says too little."""

Entry: TypeAlias = tuple[int, int, str, str]
"""Id, column id, value, normal form."""


class ValueIndex:
    """Use `await ValueIndex.open(…)`. `find` may be called from any thread."""

    def __init__(self, path: Path, catalog: Catalog) -> None:
        self._path = path
        self._connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
        self._lock = threading.Lock()
        order = {(t.name, c.name): n for n, (t, c) in enumerate((t, c) for t in catalog.tables for c in t.columns)}
        listed = "SELECT id, table_name, name, notice FROM columns"
        rows = self._connection.execute(listed).fetchall()
        self._columns = {number: (table, column) for number, table, column, _ in rows}
        self._order = order
        self._named = _named_values(catalog)
        self.notices = tuple(Warning(subject=f"{t}.{c}", message=notice) for _, t, c, notice in rows if notice)

    @classmethod
    async def open(
        cls, cache: Path, catalog: Catalog, probe: Probe, *, limits: IndexLimits | None = None
    ) -> "ValueIndex":
        """The index of the catalog's values as they are now; reads only tables that changed since it was last built."""
        path = cache / file_name(catalog)
        await up_to_date(path, catalog, probe, limits or IndexLimits())
        return await asyncio.to_thread(cls, path, catalog)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def find(self, phrase: str, limit: int = 8) -> tuple[ValueHit, ...]:
        return self._find(phrase, limit, None)

    def find_in(self, phrase: str, table: str, column: str, limit: int = 8) -> tuple[ValueHit, ...]:
        """Only among the values of one column."""
        return self._find(phrase, limit, (table, column))

    def _find(self, phrase: str, limit: int, within: tuple[str, str] | None) -> tuple[ValueHit, ...]:
        normal = normal_form(phrase)
        if not normal or len(phrase) > _LONGEST_PHRASE:
            return ()
        columns = None if within is None else {n for n, name in self._columns.items() if name == within}
        try:
            with self._lock:
                scored = _Search(self._connection, phrase, normal, columns).scored()
        except sqlite3.DatabaseError as error:
            self._path.unlink(missing_ok=True)
            raise OperatorError(
                f"The index of values is damaged: {error}",
                code="value_index_damaged",
                hint="It has been removed and is built again with the next question.",
            ) from error
        return self._ranked(scored, normal, within)[:limit]

    def _ranked(
        self, scored: Mapping[tuple[int, str], float], normal: str, within: tuple[str, str] | None
    ) -> tuple[ValueHit, ...]:
        best = {(*self._columns[column], value): score for (column, value), score in scored.items()}
        for table, column, value in self._named.get(normal, ()):
            if within is None or within == (table, column):
                best[table, column, value] = 1.0
        hits = (ValueHit(table=t, column=c, value=v, score=round(s, 4)) for (t, c, v), s in best.items())
        return tuple(sorted(hits, key=self._rank))

    def _rank(self, hit: ValueHit) -> tuple[float, int, int, str]:
        return (-hit.score, len(hit.value), self._order.get((hit.table, hit.column), 0), hit.value)


# Searching


class _Search:
    def __init__(self, connection: sqlite3.Connection, phrase: str, normal: str, columns: set[int] | None) -> None:
        self._connection = connection
        self._phrase = phrase
        self._normal = normal
        self._columns = columns
        self._scores: dict[tuple[int, str], float] = {}

    def scored(self) -> Mapping[tuple[int, str], float]:
        self._same()
        self._same_stems()
        if not self._scores:
            self._misspelt()
        self._part_of()
        self._initials()
        return self._scores

    def _add(self, entries: Iterable[Entry], score: float) -> None:
        for _, column, value, _ in entries:
            if self._columns is None or column in self._columns:
                place = (column, value)
                self._scores[place] = max(score, self._scores.get(place, 0.0))

    def _same(self) -> None:
        folded = fold(self._phrase)
        for entry in self._with_normal(self._normal):
            self._add([entry], 1.0 if fold(entry[2]) == folded else 0.99)

    def _same_stems(self) -> None:
        stems = stemmed(self._normal)
        filed = self._entries(self._posted([filing.stems_key(stems)]))
        self._add((entry for entry in filed if stemmed(entry[3]) == stems and entry[3] != self._normal), 0.95)
        if stems != self._normal:
            self._add((entry for entry in self._with_normal(stems)), 0.95)

    def _misspelt(self) -> None:
        normal = self._normal
        if not filing.misspellable(normal):
            return
        for swapped in _swaps(normal) if len(normal) < 8 else ():
            self._add(self._with_normal(swapped), _misspelt_score(normal, 1))
        letters = filing.letters(normal)
        most = 2 * allowed_slips(len(normal))
        near = [n for n, rank in self._posted(filing.misspelt_keys(normal)) if (rank ^ letters).bit_count() <= most]
        for entry in self._entries((number, 0) for number in near):
            count = _slips(normal, entry[3])
            if count is not None:
                self._add([entry], _misspelt_score(normal, count))

    def _part_of(self) -> None:
        """Values that have all words of the phrase and more."""
        words = self._normal.split()
        if max(map(len, words)) < 3:
            return
        stems = stemmed(self._normal)
        for entry in self._entries(self._having(words)):
            score = _part_score(stems, entry[3])
            if score:
                self._add([entry], score)
        if len(self._normal) >= 4:
            for entry in self._starting():
                self._add([entry], 0.6 + 0.15 * len(self._normal) / len(entry[3]))

    def _having(self, words: Sequence[str]) -> list[tuple[int, int]]:
        if len(words) > 1:
            pairs = [filing.pair_key(one, other) for one, other in pairwise(words)]
            together = self._common(pairs)
            if together:
                return together
        return self._common([filing.word_key(word) for word in words])

    def _common(self, keys: Sequence[int]) -> list[tuple[int, int]]:
        lists = sorted((dict(self._posted([key])) for key in keys), key=len)
        return [(n, rank) for n, rank in lists[0].items() if all(n in other for other in lists[1:])][:200]

    def _initials(self) -> None:
        word = self._phrase.strip().replace(".", "")
        if not (word.isupper() and word.isalpha() and 3 <= len(word) <= 6):
            return
        for entry in self._entries(self._posted([filing.initials_key(self._normal)])):
            if filing.initials(entry[3]) == self._normal:
                self._add([entry], 0.75)

    # Reading the file

    def _with_normal(self, normal: str) -> list[Entry]:
        query = "SELECT id, column_id, value, normal FROM entries WHERE normal = ? LIMIT 1000"
        return self._connection.execute(query, (normal,)).fetchall()

    def _starting(self) -> list[Entry]:
        query = (
            "SELECT id, column_id, value, normal FROM entries WHERE normal > ? AND normal < ? ORDER BY normal LIMIT 50"
        )
        return self._connection.execute(query, (self._normal, self._normal + "\U0010ffff")).fetchall()

    def _posted(self, keys: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Id and rank of what is filed under the keys."""
        for key in dict.fromkeys(keys):
            bucket, first, last = filing.bucket_and_range(key)
            left = _MOST_POSTINGS
            for (block,) in self._connection.execute("SELECT postings FROM blocks WHERE bucket = ?", (bucket,)):
                postings = memoryview(block).cast("Q")
                start = bisect_left(postings, first)
                end = bisect_left(postings, last, start)
                yield from map(filing.id_and_rank, postings[start : min(end, start + left)])
                left -= min(end - start, left)

    def _entries(self, posted: Iterable[tuple[int, int]]) -> Iterator[Entry]:
        for chunk in chunked(dict.fromkeys(number for number, _ in posted), 500):
            marks = ",".join("?" * len(chunk))
            query = f"SELECT id, column_id, value, normal FROM entries WHERE id IN ({marks})"  # noqa: S608 only marks
            yield from self._connection.execute(query, chunk)


def _swaps(text: str) -> Iterator[str]:
    for n in range(len(text) - 1):
        yield text[:n] + text[n + 1] + text[n] + text[n + 2 :]


def _slips(phrase: str, normal: str) -> int | None:
    """Nothing when a digit differs: another number is another thing, not a slip."""
    most = min(allowed_slips(len(phrase)), allowed_slips(len(normal)))
    count = slips(phrase, normal, most)
    return None if count is None or _digits(phrase) != _digits(normal) else count


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))


def _misspelt_score(phrase: str, count: int) -> float:
    return 0.94 - 0.5 * count / len(phrase)


def _part_score(stems: str, normal: str) -> float:
    """For the first words of a value, for words in its midst, and for words scattered in it."""
    value = stemmed(normal)
    coverage = len(stems) / len(value)
    if value == stems:
        return 0.0
    if value.startswith(stems + " "):
        return 0.8 + 0.05 * coverage
    if f" {stems} " in f" {value} ":
        return 0.75 + 0.05 * coverage
    return 0.65 + 0.05 * coverage if set(stems.split()) <= set(value.split()) else 0.0


def _named_values(catalog: Catalog) -> Mapping[str, list[tuple[str, str, str]]]:
    """What `semantic.yaml` calls a value, by its normal form."""
    named: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for table in catalog.tables:
        for column in table.columns:
            for name in column.value_names:
                for synonym in name.synonyms:
                    named[normal_form(synonym)].append((table.name, column.name, name.value))
    return named

"""The index of the distinct values of text columns: which value in the data does a phrase of a question mean?

`value_postings` says how values are filed and found, `value_build` how the file comes about.
"""

import asyncio
import sqlite3
import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import TypeAlias

from answerable.core.catalog import Catalog, Column, Table, ValueHit, Warning
from answerable.core.errors import OperatorError
from answerable.core.spelling import allowed_slips, slips
from answerable.core.words import fold, stemmed
from answerable.sources import value_postings as filing
from answerable.sources.base import Probe
from answerable.sources.statements import chunked
from answerable.sources.value_build import IndexLimits, file_name, up_to_date
from answerable.sources.value_postings import normal_form

_LONGEST_PHRASE = 400
_MOST_POSTINGS = 2_000
"""Of one key that a search looks at: what more values than that share says too little."""

_MOST_FORMS = 200
_MOST_COLUMNS = 1_000

Forms: TypeAlias = dict[str, float]
"""Normal forms of values and how well they fit."""


class ValueIndex:
    """Use `await ValueIndex.open(…)`. `find` may be called from any thread."""

    def __init__(self, path: Path, catalog: Catalog) -> None:
        self._path = path
        self._connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
        self._lock = threading.Lock()
        rows = self._connection.execute("SELECT id, table_name, name, notice FROM columns").fetchall()
        self._columns = {number: (table, column) for number, table, column, _ in rows}
        self._order = {place: number for number, place in enumerate((t.name, c.name) for t, c in _columns(catalog))}
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
        try:
            with self._lock:
                found = list(islice(self._hits(phrase, normal, within), limit))
        except sqlite3.DatabaseError as error:
            self._path.unlink(missing_ok=True)
            raise OperatorError(
                f"The index of values is damaged: {error}",
                code="value_index_damaged",
                hint="It has been removed and is built again with the next question.",
            ) from error
        return tuple(found)

    def _hits(self, phrase: str, normal: str, within: tuple[str, str] | None) -> Iterator[ValueHit]:
        """Best first. A misspelling is thought of only when nothing is spelt like the phrase."""
        search = _Search(self._connection, normal)
        named = [_hit(place, value, 1.0) for place, value in self._named.get(normal, ()) if within in (None, place)]
        sure = list(self._resolved(search.same() | search.same_stems(), phrase, within))
        yield from dict.fromkeys([*named, *sure])
        others = {} if named or sure else search.misspelt()
        if _is_initialism(phrase):
            others |= search.initials()
        seen = {*named, *sure}
        yield from (hit for hit in self._resolved(search.longer() | others, phrase, within) if hit not in seen)

    def _resolved(self, forms: Forms, phrase: str, within: tuple[str, str] | None) -> Iterator[ValueHit]:
        """The values behind the forms, best form first."""
        query = "SELECT column_id, value FROM entries WHERE normal = ? LIMIT ?"
        for normal, score in sorted(forms.items(), key=lambda item: (-item[1], len(item[0]), item[0])):
            rows = self._connection.execute(query, (normal, _MOST_COLUMNS)).fetchall()
            places = ((self._columns[column], value) for column, value in rows)
            hits = [
                _hit(place, value, score if score < 1 or fold(value) == fold(phrase) else 0.99)
                for place, value in places
                if within in (None, place)
            ]
            yield from sorted(hits, key=self._rank)

    def _rank(self, hit: ValueHit) -> tuple[float, int, str]:
        return -hit.score, self._order.get((hit.table, hit.column), 0), hit.value


def _hit(place: tuple[str, str], value: str, score: float) -> ValueHit:
    return ValueHit(table=place[0], column=place[1], value=value, score=round(score, 4))


def _is_initialism(phrase: str) -> bool:
    letters = phrase.strip().replace(".", "")
    return letters.isupper() and letters.isalpha() and 3 <= len(letters) <= 6


def _columns(catalog: Catalog) -> Iterator[tuple[Table, Column]]:
    return ((table, column) for table in catalog.tables for column in table.columns)


def _named_values(catalog: Catalog) -> Mapping[str, list[tuple[tuple[str, str], str]]]:
    """What `semantic.yaml` calls a value, by its normal form."""
    named: dict[str, list[tuple[tuple[str, str], str]]] = defaultdict(list)
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
        self._stems = stemmed(normal)

    def same(self) -> Forms:
        return {self._normal: 1.0} if self._exists(self._normal) else {}

    def same_stems(self) -> Forms:
        filed = self._forms(number for number, _ in self._posted(filing.stems_key(self._stems)))
        found = {normal: 0.95 for normal in filed if stemmed(normal) == self._stems}
        if self._exists(self._stems):
            found[self._stems] = 0.95
        found.pop(self._normal, None)
        return found

    def misspelt(self) -> Forms:
        normal = self._normal
        if not filing.misspellable(normal):
            return {}
        swapped = (swap for swap in _swaps(normal) if len(normal) < 8 and self._exists(swap))
        found = {swap: _misspelt_score(normal, 1) for swap in swapped}
        letters, most = filing.letters(normal), 2 * allowed_slips(len(normal))
        posted = (posting for key in filing.misspelt_keys(normal) for posting in self._posted(key))
        for form in self._forms(n for n, rank in posted if (rank ^ letters).bit_count() <= most):
            count = _slips(normal, form)
            if count is not None:
                found[form] = _misspelt_score(normal, count)
        return found

    def longer(self) -> Forms:
        """Values that have all words of the phrase and more, or that go on where it ends."""
        words = self._normal.split()
        if max(map(len, words)) < 3:
            return {}
        having = self._forms(self._having(words))
        found = {form: score for form in having if (score := _part_score(self._normal, form))}
        for form in self._continuing() if len(self._normal) >= 4 else ():
            found.setdefault(form, 0.6 + 0.15 * len(self._normal) / len(form))
        return found

    def initials(self) -> Forms:
        filed = self._forms(number for number, _ in self._posted(filing.initials_key(self._normal)))
        return {form: 0.75 for form in filed if filing.initials(form) == self._normal}

    def _having(self, words: Sequence[str]) -> list[int]:
        """Neighbouring words first: they tell far more than the same words apart."""
        together = self._common([filing.pair_key(one, other) for one, other in pairwise(words)])
        return together or self._common([filing.word_key(word) for word in words])

    def _common(self, keys: Sequence[int]) -> list[int]:
        lists = sorted(([number for number, _ in self._posted(key)] for key in keys), key=len)
        if not lists:
            return []
        others = [set(numbers) for numbers in lists[1:]]
        return [number for number in lists[0] if all(number in other for other in others)][:_MOST_FORMS]

    # Reading the file

    def _exists(self, normal: str) -> bool:
        return self._connection.execute("SELECT 1 FROM entries WHERE normal = ?", (normal,)).fetchone() is not None

    def _continuing(self) -> list[str]:
        query = "SELECT DISTINCT normal FROM entries WHERE normal > ? AND normal < ? ORDER BY normal LIMIT 50"
        rows = self._connection.execute(query, (self._normal, self._normal + "\U0010ffff")).fetchall()
        return [normal for (normal,) in rows]

    def _posted(self, key: int) -> Iterator[tuple[int, int]]:
        """Id and rank of what is filed under the key."""
        bucket, first, last = filing.bucket_and_range(key)
        left = _MOST_POSTINGS
        for (block,) in self._connection.execute("SELECT postings FROM blocks WHERE bucket = ?", (bucket,)):
            postings = memoryview(block).cast("Q")
            start = bisect_left(postings, first)
            end = min(bisect_left(postings, last, start), start + left)
            yield from map(filing.id_and_rank, postings[start:end])
            left -= end - start

    def _forms(self, numbers: Iterable[int]) -> Iterator[str]:
        for chunk in chunked(dict.fromkeys(numbers), 500):
            marks = ",".join("?" * len(chunk))
            query = f"SELECT normal FROM entries WHERE id IN ({marks})"  # noqa: S608 only marks
            yield from (normal for (normal,) in self._connection.execute(query, chunk))


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


def _part_score(phrase: str, normal: str) -> float:
    """For the first words of a value, for words in its midst, and for words scattered in it."""
    stems, value = stemmed(phrase), stemmed(normal)
    coverage = len(phrase) / len(normal)
    if value == stems:
        return 0.0
    if value.startswith(stems + " "):
        return 0.8 + 0.05 * coverage
    if f" {stems} " in f" {value} ":
        return 0.75 + 0.05 * coverage
    return 0.65 + 0.05 * coverage if set(stems.split()) <= set(value.split()) else 0.0

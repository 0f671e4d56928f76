"""The group clause: what rows are grouped by, and the condition that groups must meet."""

from collections.abc import Iterator

from answerable.reader.candidates.composition import Composition, HavingOption, logit
from answerable.reader.candidates.roles import Roles
from answerable.reader.linking.scene import Scene, comparison_at
from answerable.reader.plans.draft import ROWS, Draft, DraftCondition, Term

# Each option multiplies the number of drafts, so those that are hardly likely are left out.
_LEAST_GROUP = 0.05
_LEAST_HAVING = 0.03
# "More than 3 orders" rather counts rows than compares a sum or an average with 3.
_AGGREGATE_SHARE = 0.3
# The column that is shown is the natural group, even where the fitted chance did not see that.
_LEAST_OF_SHOWN = 0.1
# A unique name stands for its row, and then the key of the table is as good a group as the name.
_KEY_OF_UNIQUE = 0.2
# Groups follow from the other clauses, so their chances decide less than those of what is shown.
_GROUP_WEIGHT = 0.3
_HAVING_WEIGHT = 0.4


def group_options(roles: Roles) -> list[tuple[int, float]]:
    ranked = sorted(roles.columns["group"].items(), key=lambda item: -item[1].probability)
    return [(column, chance.probability) for column, chance in ranked[:4] if chance.probability >= _LEAST_GROUP]


def having_options(scene: Scene, roles: Roles) -> list[HavingOption]:
    found = []
    for place in scene.numbers:
        chance = roles.number_roles[place]["having"]
        number = scene.tokens[place].value
        if number is None:
            continue
        if _said_as_times(scene, place):
            # "Twice" and "five times" always count rows, whatever the fitted chance.
            chance = max(chance, 0.4)
        if chance < _LEAST_HAVING:
            continue
        operator = comparison_at(scene, place)
        found.append(HavingOption(DraftCondition(ROWS, operator, number), place, chance))
        for (function, column), use in roles.aggregates.items():
            # An unlikely aggregate still counts if the question names its column close to the number.
            if use.probability > 0.05 or (use.mention and abs(use.mention.start - place) < 5):
                term = Term(column, function)  # type: ignore[arg-type]
                found.append(HavingOption(DraftCondition(term, operator, number), place, chance * _AGGREGATE_SHARE))
    # "More than once" contains no number token, so the condition is written here.
    if "ONCE" in scene.cue_tags:
        found.append(HavingOption(DraftCondition(ROWS, ">", 1), scene.cues_of("ONCE")[0].start, 0.5))
    return sorted(found, key=lambda having: -having.chance)[:4]


def _said_as_times(scene: Scene, place: int) -> bool:
    """Twice, five times: how often something happens is counted."""
    return scene.words[place] in ("twice", "thrice") or scene.words[place + 1 : place + 2] == ["times"]


def having_score(having: HavingOption | None) -> float:
    return 0.0 if having is None else _HAVING_WEIGHT * logit(having.chance)


def groupings(draft: Draft, composition: Composition) -> Iterator[tuple[Draft, float]]:
    """The draft with each possible group and its score. Clauses that do not go together have none."""
    plain = [term for term in draft.select if term.function is None]
    calculated = any(term.function for term in draft.select)
    by_aggregate = any(order.term.function for order in draft.order)
    # These drafts need a group: a condition on groups, a column beside a figure, or rows sorted by a figure.
    if draft.having or (plain and calculated) or (by_aggregate and not (calculated and not plain)):
        for column, chance in _group_columns(plain, composition):
            yield draft._replace(group=(Term(column),)), _GROUP_WEIGHT * logit(chance)
        return
    if by_aggregate:
        yield from _unnamed_groups(draft, composition)
    # A single figure cannot be sorted. With a limit of 1 the draft goes on, because a variant turns its order into a
    # nested query.
    elif not (draft.order and calculated) or draft.limit == 1:
        yield draft, 0.0
    # Without "each", a figure alone is a total over all rows.
    if calculated and "EACH" in composition.scene.cue_tags:
        yield from _shown_groups(draft, composition)


def _unnamed_groups(draft: Draft, composition: Composition) -> Iterator[tuple[Draft, float]]:
    """How many customers are in the city with the most: the group itself is not shown."""
    for column, chance in composition.options.groups[:3]:
        yield draft._replace(group=(Term(column),)), _GROUP_WEIGHT * logit(chance)


def _shown_groups(draft: Draft, composition: Composition) -> Iterator[tuple[Draft, float]]:
    """The average age for each country: the country is shown beside it, before or after."""
    for column, chance in composition.options.groups[:2]:
        key = Term(column)
        score = _GROUP_WEIGHT * logit(chance)
        yield draft._replace(group=(key,), select=(key, *draft.select)), score
        yield draft._replace(group=(key,), select=(*draft.select, key)), score


def _group_columns(plain: list[Term], composition: Composition) -> list[tuple[int, float]]:
    known = dict(composition.options.groups)
    found: dict[int, float] = {}
    for term in plain[:1]:
        assert term.column is not None
        found[term.column] = known.get(term.column, _LEAST_OF_SHOWN)
        table = composition.schema.tables[composition.schema.columns[term.column].table]
        if table.key is not None and table.key != term.column:
            unique = composition.schema.columns[term.column].source.unique
            found[table.key] = max(known.get(table.key, _LEAST_OF_SHOWN), _KEY_OF_UNIQUE if unique else _LEAST_OF_SHOWN)
    for column, chance in composition.options.groups[: 2 if plain else 3]:
        found.setdefault(column, chance)
    return sorted(found.items(), key=lambda item: -item[1])[:3]

"""The shape of a query, and how likely each part of it is given the words of the question."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from answerable.reader.linking.scene import Scene
from answerable.reader.plans.draft import Draft, DraftCondition, DraftOrder, Term, all_drafts

# Learned from questions that say "each": without this, "sales per region" would lose its group.
_COMMON_FORM = {"per": "each", "every": "each"}
"""Words that the questions of the fit splits hardly use, and the common ones that mean the same."""
_REMEMBERED = 1024
"""Lists of shown columns: the candidates of one question have but a few."""
_LETTERS = {"count": "n", "avg": "a", "sum": "s", "min": "m", "max": "M"}


class Shape(NamedTuple):
    """Each part is predicted on its own."""

    items: str
    """How many columns are shown."""
    kinds: str
    """What they are: columns, counts, averages…"""
    first: str
    tests: str
    test_kinds: str
    group: str
    having: str
    order: str
    limit: str
    combination: str
    either: str
    distinct: str


PARTS = Shape._fields


def shape_of(draft: Draft) -> Shape:
    """Rows that share an extreme value have the shape of a single first row, because the words of a question do not
    distinguish the two."""
    draft = without_ties(draft)
    drafts = all_drafts(draft)
    clauses = [clause for d in drafts for clause in d.where]
    conditions = [c for clause in clauses for c in clause]
    kinds = [_condition_letter(c) for c in conditions]
    items, shown, first = shape_of_select(draft.select)
    return Shape(
        items=items,
        kinds=shown,
        first=first,
        # Counts are capped, so that rare numbers share a class.
        tests=str(min(4, len(kinds))),
        test_kinds="".join(sorted(set(kinds))) if len(kinds) > 1 else "".join(kinds),
        group=str(min(2, max([len(d.group) for d in drafts]))),
        having=next((shape_of_having(c) for d in drafts for c in d.having), ""),
        order=shape_of_order(draft.order),
        limit=shape_of_limit(draft.limit),
        combination=_combination(draft, conditions),
        either="1" if len(conditions) > len(clauses) else "0",
        distinct="1" if draft.distinct else "0",
    )


@lru_cache(_REMEMBERED)
def shape_of_select(select: tuple[Term, ...]) -> tuple[str, str, str]:
    """The items, their kinds, and the kind of the first."""
    shown = "".join([_term_letter(term) for term in select]) or "*"
    return str(min(5, len(shown))), "".join(sorted(set(shown))), shown[0]


def shape_of_having(condition: DraftCondition) -> str:
    return _term_letter(condition.left)


def shape_of_order(orders: Sequence[DraftOrder]) -> str:
    return "".join(_term_letter(order.term) + ("-" if order.descending else "+") for order in orders[:1])


def shape_of_limit(limit: int | None) -> str:
    return "" if limit is None else "1" if limit == 1 else "k"


def without_ties(draft: Draft) -> Draft:
    for clause in draft.where:
        one = clause[0]
        # This undoes the variant `rows_that_tie`.
        if len(clause) == 1 and one.operator == "=" and isinstance(one.right, Draft) and not draft.order:
            inner = one.right.select
            if len(inner) == 1 and inner[0].column == one.left.column and inner[0].function in ("max", "min"):
                order = (DraftOrder(one.left, inner[0].function == "max"),)
                return draft._replace(where=tuple(c for c in draft.where if c is not clause), order=order, limit=1)
    return draft


def _term_letter(term: Term) -> str:
    if term.measure is not None:
        return "s"
    if term.function is None:
        return "c"
    return "d" if term.function == "count" and term.distinct else _LETTERS[term.function]


def _condition_letter(condition: DraftCondition) -> str:
    if condition.operator in ("contains", "starts_with", "ends_with"):
        return "l"
    if isinstance(condition.right, Draft):
        if condition.operator == "not_in":
            return "N"
        select = condition.right.select
        return "q" if select and select[0].function in ("avg", "min", "max") else "i"
    if isinstance(condition.right, Term):
        return "j"
    if condition.operator == "!=":
        return "x"
    return "v" if condition.operator == "=" else "o"


def _combination(draft: Draft, conditions: Sequence[DraftCondition]) -> str:
    if draft.combination is not None:
        return "not" if draft.combination.operator == "except" else draft.combination.operator
    return "not" if any(c.operator == "not_in" for c in conditions) else ""


def grams(scene: Scene) -> list[str]:
    """The words and pairs and triples of words, with names, values and numbers of the data replaced by their kind."""
    words: list[str] = ["^"]
    for token, tag in zip(scene.tokens, scene.tags, strict=True):
        if tag in ("TAB", "COL", "VAL", "NUM", "QUOTE", "DATE"):
            # A name of two words counts once: the model learns forms of questions, not names.
            if words[-1] != tag:
                words.append(tag)
        elif tag != "MARK":
            words.append(_COMMON_FORM.get(token.lower, token.lower) if tag != "O" else token.stem)
    words.append("$")
    found = set(words)
    found.update(f"{a} {b}" for a, b in pairwise(words))
    found.update(f"{a} {b} {c}" for a, b, c in zip(words, words[1:], words[2:], strict=False))
    found.update(f"<{tag}" for tag in scene.cue_tags)
    # Without the small words, pairs of tags reach further than triples of words do.
    skeleton = [tag for tag in scene.tags if tag not in ("THE", "OF", "BE", "O", "MARK")]
    found.update(f"#{a} {b}" for a, b in pairwise(skeleton))
    found.add(f"columns={min(5, _said_columns(scene))}")
    found.add(f"values={min(4, len(scene.values))}")
    found.add(f"numbers={min(3, len(scene.numbers))}")
    found.add(f"tables={min(3, sum(max(m.score for m in ms) > 0.9 for ms in scene.tables.values()))}")
    return sorted(found)


def _said_columns(scene: Scene) -> int:
    """Places where a column is named in full, each counted by its first word."""
    full = [m for m in scene.links.columns if m.score >= 0.88]
    return len({m.start for m in full if not any(o.start < m.start and o.end >= m.end for o in full)})


# About one in a thousand: a shape that was never seen is unlikely, but it can still win.
UNSEEN = -7.0


class ShapeScores:
    """How well the parts of a shape fit the words of one question. No part counts for less than one never seen."""

    def __init__(self, chances: Mapping[str, Mapping[str, float]]) -> None:
        self._parts = [{value: max(chance, UNSEEN) for value, chance in chances[part].items()} for part in PARTS]

    def of(self, shape: Shape) -> tuple[float, ...]:
        # A list is quicker than a generator, and this runs for every draft.
        return tuple([part.get(value, UNSEEN) for part, value in zip(self._parts, shape, strict=True)])

    def of_select(self, select: tuple[Term, ...]) -> float:
        """The score of the shown columns alone, which are the first parts of a shape."""
        shown = shape_of_select(select)
        return sum([part.get(value, UNSEEN) for part, value in zip(self._parts, shown, strict=False)])

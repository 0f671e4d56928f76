"""Variants of a draft: other structures that the same options may stand for."""

from collections.abc import Iterator

from answerable.reader.candidates.combined_variants import (
    conditions_apart,
    either_or_both,
    list_of_two_tables,
    negation,
)
from answerable.reader.candidates.composition import Composition, UnscoredCandidate, Variant
from answerable.reader.candidates.joined_tables import other_relationship
from answerable.reader.candidates.nested_variants import (
    conditions_inside_comparison,
    membership,
    rows_of_the_first,
    rows_that_tie,
)
from answerable.reader.candidates.relations import related_rows

VARIANTS: tuple[Variant, ...] = (
    either_or_both,
    rows_that_tie,
    rows_of_the_first,
    conditions_inside_comparison,
    other_relationship,
    membership,
    related_rows,
    list_of_two_tables,
    conditions_apart,
    negation,
)
"""The order decides between drafts of one score: the earlier variant is offered first."""


def with_variants(candidate: UnscoredCandidate, composition: Composition) -> Iterator[UnscoredCandidate]:
    """The draft itself, then each of its variants."""
    yield candidate
    draft, evidence = candidate
    for variant in VARIANTS:
        for other, name in variant(draft, evidence.tests, composition):
            yield UnscoredCandidate(other, evidence._replace(variant=name))

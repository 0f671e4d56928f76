"""Finds personal data in a text."""

from collections.abc import Collection, Iterator

from answerable.protection.personal.names import names
from answerable.protection.personal.patterns import with_a_form
from answerable.protection.personal.spans import Kind, Span, without_overlaps


def found(text: str, kinds: Collection[Kind]) -> list[Span]:
    return without_overlaps(_all(text, kinds))


def _all(text: str, kinds: Collection[Kind]) -> Iterator[Span]:
    yield from (span for span in with_a_form(text) if span.kind in kinds)
    if "name" in kinds:
        yield from names(text)

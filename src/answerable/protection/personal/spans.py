"""Where personal data stands in a text."""

from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

from answerable.core.records import dataclass

Kind: TypeAlias = Literal["email", "iban", "card", "ssn", "ip", "phone", "name"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Span:
    start: int
    end: int
    kind: Kind


def without_overlaps(spans: Iterable[Span]) -> list[Span]:
    """The spans in order of place. Of spans that overlap the first that was found stays, and grows over what the others
    cover: nothing that any detector found is left out."""
    merged: list[Span] = []
    for span in spans:
        touching = [other for other in merged if other.start < span.end and span.start < other.end]
        if not touching:
            merged.append(span)
            continue
        for other in touching:
            merged.remove(other)
        start = min(span.start, *(other.start for other in touching))
        end = max(span.end, *(other.end for other in touching))
        merged.append(Span(start, end, touching[0].kind))
    return sorted(merged, key=lambda span: span.start)

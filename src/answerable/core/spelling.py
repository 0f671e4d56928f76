"""The number of typing mistakes between two words (Damerau-Levenshtein distance)."""


def allowed_slips(length: int) -> int:
    """The mistakes that a word of this length may have. A short word with one letter changed is another word, while a
    long one is probably the same word misspelt."""
    return 0 if length < 4 else 1 if length < 8 else 2


def slips(one: str, other: str, most: int) -> int | None:
    """Counts letters added, left out, replaced or swapped with a neighbour; None if there are more than `most`."""
    one, other = _without_common_ends(one, other)
    if not one or not other:
        count = len(one) + len(other)
        return count if count <= most else None
    if abs(len(one) - len(other)) > most:
        return None
    before: list[int] = []
    previous = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        current = _next_row(i, letter, one, other, before, previous)
        if min(current) > most:
            return None  # distances never fall from row to row, so the rest of the table cannot bring it down
        before, previous = previous, current
    return previous[-1] if previous[-1] <= most else None


def _next_row(i: int, letter: str, one: str, other: str, before: list[int], previous: list[int]) -> list[int]:
    row = [i]
    for j, against in enumerate(other, 1):
        cost = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (letter != against))
        if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == against:  # two neighbours swapped
            cost = min(cost, before[j - 2] + 1)
        row.append(cost)
    return row


def _without_common_ends(one: str, other: str) -> tuple[str, str]:
    start = 0
    shorter = min(len(one), len(other))
    while start < shorter and one[start] == other[start]:
        start += 1
    one, other = one[start:], other[start:]
    end = 0
    shorter = min(len(one), len(other))
    while end < shorter and one[-1 - end] == other[-1 - end]:
        end += 1
    return one[: len(one) - end], other[: len(other) - end]

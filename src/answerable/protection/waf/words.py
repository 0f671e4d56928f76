"""Lists of words for the checks."""


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())

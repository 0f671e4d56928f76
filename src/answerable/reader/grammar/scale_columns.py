"""Which column a superlative or comparison means that names none: the priciest product, the oldest shop, under 20
euros.

A word of a scale asks for a class of columns (`linking/everyday_words.py`). A form takes a column only if exactly one
of the table fits the word best.
"""

from answerable.core.words import stem
from answerable.reader.linking.everyday_words import everyday_names
from answerable.reader.linking.scales import names_something
from answerable.reader.linking.schema import ColumnView, Schema

_TIMES = frozenset({"newest", "latest", "oldest", "youngest", "earliest", "recent", "recently"})
_OF_LIVES = frozenset({"oldest", "youngest"})
_STARTS = frozenset(
    map(stem, ["start", "begin", "open", "launch", "found", "join", "hire", "sign", "register", "create", "establish"])
)
_COLUMNS_OF_PAY = ("salary", "wage", "pay", "income")
CURRENCIES = frozenset(
    {"euro", "euros", "eur", "dollar", "dollars", "usd", "pound", "pounds", "gbp", "bucks", "€", "$", "£"}
)


def scale_column(schema: Schema, table: int, word: str) -> int | None:
    """The column of the table that the word of a scale asks for. None if there is none, or more than one fits."""
    if word in _TIMES:
        return _date_of_scale(schema, table, word)
    names = everyday_names(word, stem(word))
    return _best_named(schema, table, names)


def pay_column(schema: Schema, table: int) -> int | None:
    return _best_named(schema, table, tuple(map(stem, _COLUMNS_OF_PAY)))


def price_column(schema: Schema, table: int) -> int | None:
    return scale_column(schema, table, "priciest")


def _best_named(schema: Schema, table: int, names: tuple[str, ...]) -> int | None:
    """The number whose own name comes first among the names. The head of a name is its last word: a unit price is a
    price, a price list is a list."""
    places = {name: place for place, name in enumerate(names)}
    found: dict[int, list[int]] = {}
    for view in _numbers(schema, table):
        place = places.get(stem(view.words[-1])) if view.words else None
        if place is not None:
            found.setdefault(place, []).append(view.id)
    best = found[min(found)] if found else []
    return best[0] if len(best) == 1 else None


def _numbers(schema: Schema, table: int) -> list[ColumnView]:
    views = [schema.columns[column] for column in schema.tables[table].columns]
    return [view for view in views if view.numeric and not view.key and not view.foreign and not names_something(view)]


def _date_of_scale(schema: Schema, table: int, word: str) -> int | None:
    """The newest product came out last, the oldest shop was opened first. How old people are is not told by the day on
    which they were hired."""
    if word in _OF_LIVES and schema.tables[table].people:
        return None
    dates = [view for view in map(schema.columns.__getitem__, schema.tables[table].columns) if view.temporal]
    starts = [view for view in dates if not _STARTS.isdisjoint(map(stem, view.words))]
    fitting = dates if len(dates) == 1 else starts
    return fitting[0].id if len(fitting) == 1 else None

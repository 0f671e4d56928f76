"""Names of tables and columns as people say them: `Flight_number`, `custid` and `fname` split and spelled out."""

import re
from collections.abc import Collection, Iterable, Sequence

from answerable.core.words import stem

ABBREVIATIONS: dict[str, tuple[str, ...]] = {
    "fname": ("first", "name"),
    "lname": ("last", "name"),
    "mname": ("middle", "name"),
    "dob": ("date", "of", "birth"),
    "num": ("number",),
    "no": ("number",),
    "nbr": ("number",),
    "qty": ("quantity",),
    "amt": ("amount",),
    "avg": ("average",),
    "max": ("maximum",),
    "min": ("minimum",),
    "desc": ("description",),
    "descr": ("description",),
    "dept": ("department",),
    "addr": ("address",),
    "tel": ("telephone",),
    "cnt": ("count",),
    "pct": ("percentage",),
    "perc": ("percentage",),
    "yr": ("year",),
    "mon": ("month",),
    "temp": ("temperature",),
    "cust": ("customer",),
    "emp": ("employee",),
    "stu": ("student",),
    "prof": ("professor",),
    "inst": ("institution",),
    "org": ("organization",),
    "cat": ("category",),
    "prod": ("product",),
    "acct": ("account",),
    "mgr": ("manager",),
    "lat": ("latitude",),
    "lon": ("longitude",),
    "lng": ("longitude",),
    "long": ("longitude",),
    "pos": ("position",),
    "loc": ("location",),
    "info": ("information",),
    "ref": ("reference",),
    "dep": ("departure",),
    "arr": ("arrival",),
    "dest": ("destination",),
    "uid": ("user", "id"),
    "pid": ("id",),
    "enr": ("enrollment",),
    "res": ("residence",),
    "abbr": ("abbreviation",),
    "bldg": ("building",),
    "ave": ("average",),
    "std": ("standard",),
    "tot": ("total",),
    "mo": ("month",),
    "mnth": ("month",),
    "hum": ("humidity",),
    "hrs": ("hours",),
    "hr": ("hour",),
    "mins": ("minutes",),
    "secs": ("seconds",),
    "yrs": ("years",),
    "mag": ("magnitude",),
    "pop": ("population",),
    "wt": ("weight",),
    "ht": ("height",),
    "dte": ("date",),
    "jp": ("japan",),
    "eu": ("europe",),
    "na": ("north", "america"),
    "col": ("college",),
    "univ": ("university",),
    "govt": ("government",),
    "mfr": ("manufacturer",),
    "jan": ("january",),
    "feb": ("february",),
    "mar": ("march",),
    "apr": ("april",),
    "jun": ("june",),
    "jul": ("july",),
    "aug": ("august",),
    "sep": ("september",),
    "oct": ("october",),
    "nov": ("november",),
    "dec": ("december",),
    "sun": ("sunday",),
    "sat": ("saturday",),
    "fri": ("friday",),
    "thu": ("thursday",),
    "wed": ("wednesday",),
    "tue": ("tuesday",),
}

_COMMON_WORDS = """
id name date time code number type year first last order user city state country street email phone price cost
total amount status title level rate age sex gender room building team game player school course class student
birth start end day month count size weight height length area address zip home work job customer product item
account balance department employee manager salary hire max min from to of in up down key text value rank score
point key post line group zone site page file song album track artist film movie book store shop ticket flight
air port airport airline car train station member party event place location region district county
"""
_COMMON = frozenset(_COMMON_WORDS.split())
"""Words that names are often glued from; the schema's own words are added to these."""

_SHORT_NAME = 4
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d{2,})")
_WORD = re.compile(r"[^\W_]+")


def split_name(name: str, vocabulary: Collection[str] = ()) -> tuple[str, ...]:
    """The lower-case words of a name: split at marks and capitals, and glued words at known words."""
    words: list[str] = []
    for piece in _WORD.findall(name):
        # Before the split at capitals, which would cut the abbreviation `FName`.
        if len(ABBREVIATIONS.get(piece.lower(), ())) > 1:
            words.append(piece.lower())
            continue
        for part in _CAMEL.split(piece):
            words.extend(_unglue(part.lower(), vocabulary))
    return tuple(words)


def plain_words(name: str) -> tuple[str, ...]:
    """Split only at marks and capitals: `classroom` stays one word, as people write it."""
    return tuple(part.lower() for piece in _WORD.findall(name) for part in _CAMEL.split(piece))


def _unglue(word: str, vocabulary: Collection[str]) -> tuple[str, ...]:
    if len(word) < 5 or word in _COMMON or word in vocabulary or word in ABBREVIATIONS:
        return (word,)
    # The longest head first, so that the fewest letters are cut off.
    for cut in range(len(word) - 2, 1, -1):
        head, tail = word[:cut], word[cut:]
        if tail in _COMMON and (head in _COMMON or head in vocabulary or head in ABBREVIATIONS):
            return (head, tail)
    if word.endswith("id") and len(word) > 4:
        for known in vocabulary:
            if len(known) > 3 and known.startswith(word[:-2]):
                return (word[:-2], "id")
    return (word,)


def without_initial(words: Sequence[str]) -> tuple[str, ...]:
    """`pclass` is also just class. Empty if the name is not a letter before a common word."""
    only = words[0] if len(words) == 1 else ""
    return (only[1:],) if len(only) > _SHORT_NAME and only[1:] in _COMMON else ()


def spelled_out(words: Iterable[str]) -> tuple[str, ...]:
    """The words with common abbreviations replaced by what they stand for."""
    out: list[str] = []
    for word in words:
        out.extend(ABBREVIATIONS.get(word, (word,)))
    return tuple(out)


def stems(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(stem(word) for word in words)

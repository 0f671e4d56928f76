"""Which columns a number may be of, and how a cell is said in the number's unit and scale."""

import re
from collections.abc import Iterator
from decimal import Decimal

from answerable.answers.checking.lexicon import CONCEPTS, DIMENSIONS, MEAN
from answerable.answers.checking.numerals import Numeral
from answerable.answers.checking.sentence import Sentence
from answerable.answers.roles import Field, is_fraction_name, words
from answerable.core.words import fold, stem

_WERE = re.compile(r"\s+\w+ (?:was|were|are|is|got|have been|had been) (?P<met>\w+)", re.IGNORECASE)
_DIMENSIONS = {stem(name): dimension for name, dimension in DIMENSIONS.items()}


def columns_for(numeral: Numeral, sentence: Sentence) -> list[Field]:
    """The measures that a number may speak of: those that the word after it names, else those of the sentence, else
    all."""
    facts = sentence.facts
    counted = counted_columns(numeral, sentence)
    if counted:
        return counted
    spoken = [f for f in facts.measures if f.index in sentence.spoken]
    means = [f for f in facts.measures if MEAN & set(words(f.name))]
    if not spoken and means and MEAN & sentence.words:
        return means
    years = {word for word in sentence.words if word.isdigit() and len(word) == 4}
    dated = [f for f in spoken if years & set(words(f.name))]
    return dated or spoken or list(facts.measures)


def counted_columns(numeral: Numeral, sentence: Sentence) -> list[Field]:
    """The measures that the word after the numeral names: in “500 orders” only orders can be meant."""
    noun = fold(_noun_after(numeral, sentence))
    facts = sentence.facts
    if met := _counted_as(numeral, sentence):
        return met
    if re.match(r"\s+years old\b", sentence.text[numeral.end :]):
        return facts.concerning(("age",))
    if not noun or (stem(noun) in _DIMENSIONS and not any(_counts(f, noun) for f in facts.measures)):
        return []
    named = [
        f
        for f in facts.measures
        if stem(noun) in facts.name_keys(f)
        and not _is_other_ratio(f, numeral, sentence)
        and not _is_entity(noun, f, sentence)
    ]
    return named or facts.concerning(CONCEPTS.get(noun, ()))


def _counts(field: Field, noun: str) -> bool:
    """Whether a column counts what the noun says: `days` and `days_over_10_mm` count days."""
    return words(field.name) == (noun,) or (field.type == "integer" and words(field.name)[:1] == (noun,))


def _counted_as(numeral: Numeral, sentence: Sentence) -> list[Field]:
    """“10 flights were cancelled” counts what was cancelled; “of 828 flights” all of them."""
    found = _WERE.match(sentence.text[numeral.end :])
    if found is None or sentence.word_before(numeral) == "of" or numeral.kind != "number":
        return []
    return [f for f in sentence.facts.measures if met(f, found["met"], sentence)]


def met(field: Field, word: str, sentence: Sentence) -> bool:
    """Whether a column counts what a participle says: `cancelled`."""
    facts = sentence.facts
    amount = not facts.is_fraction(field) and not facts.is_percentage(field)
    return amount and stem(fold(word)) in facts.name_keys(field)


def _is_other_ratio(field: Field, numeral: Numeral, sentence: Sentence) -> bool:
    """Whether the column is a ratio that the sentence does not speak of: “204,320 residents” are not those per
    officer."""
    return "per" in words(field.name) and "per" not in words(sentence.text[numeral.end : numeral.end + 30])


def _is_entity(noun: str, field: Field, sentence: Sentence) -> bool:
    """Whether the noun names the rows and not the column: “three products” beside `product_name`, `product_price`."""
    labels = (f for f in sentence.facts.fields if f.role in ("category", "key"))
    called = any(stem(noun) in sentence.facts.name_keys(f) for f in labels)
    return called and stem(fold(words(field.name)[-1])) != stem(noun)


def _noun_after(numeral: Numeral, sentence: Sentence) -> str:
    """The word after a number, or after the name that follows it: “152 Adelie penguins”."""
    name = next((m for m in sentence.labels_named if 0 < m.start - numeral.end <= 2), None)
    if name is None:
        return sentence.word_after(numeral)
    following = words(sentence.text[name.end : name.end + 40])
    return following[0] if following and not sentence.text[name.end : name.end + 1].strip() else ""


def said_unit(numeral: Numeral, sentence: Sentence) -> str | None:
    """The unit that a number is said in."""
    if numeral.text[:1] in "$€£" or numeral.text[1:2] in ("$", "€", "£"):
        return numeral.text[0] if numeral.text[0] in "$€£" else numeral.text[1]
    attached = fold("".join(c for c in numeral.text if c.isalpha()))
    for unit in (attached, fold(sentence.word_after(numeral))):
        if stem(unit) in _DIMENSIONS:
            return unit
    return None


def factor(field: Field, numeral: Numeral, sentence: Sentence) -> Iterator[Decimal]:
    """Factors that turn a cell of a column into the unit of the number. Yields none if the units do not fit."""
    said, own = said_unit(numeral, sentence), sentence.facts.unit(field)
    scale = sentence.facts.scale(field)
    if said is None or own is None or _counts(field, fold(sentence.word_after(numeral))):
        # A quantity without a known unit may be said in any, but a percentage is no money.
        if said is not None and _DIMENSIONS[stem(said)][0] == "money" and is_fraction_name(field.name):
            return
        times = Decimal(1)
    else:
        (dimension, size), (other, said_size) = _DIMENSIONS[stem(own)], _DIMENSIONS[stem(said)]
        if dimension != other:
            return
        times = Decimal(str(size)) / Decimal(str(said_size))
    yield times
    if scale != 1:
        yield times * scale

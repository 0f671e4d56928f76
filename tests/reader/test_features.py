"""Features keep their names, their order and their values: the weights were fitted with exactly these.

`feature_vectors.json` holds the vectors of a few questions, by name and without zeros. After an intended change, fit
the weights again and write it with `python -m tests.reader.test_features`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from answerable.core.catalog import Catalog, ValueLookup
from answerable.core.errors import OperatorError
from answerable.reader.candidates.role_feature_names import (
    COLUMN_FEATURE_NAMES,
    FUNCTION_FEATURE_NAMES,
    NUMBER_FEATURE_NAMES,
    NUMBER_ROLE_FEATURE_NAMES,
    TABLE_FEATURE_NAMES,
    VALUE_FEATURE_NAMES,
)
from answerable.reader.candidates.role_features import RoleFeaturizer
from answerable.reader.candidates.roles import relevant_columns
from answerable.reader.fitted.packed import unpack
from answerable.reader.linking.scene import link_question
from answerable.reader.linking.tokens import tokenize
from answerable.reader.ranking.confidence import CONFIDENCE_FEATURE_NAMES, confidence_vector
from answerable.reader.ranking.dry_run import dry_run_result
from answerable.reader.ranking.ranker_feature_names import RANKER_FEATURE_NAMES
from answerable.reader.reader import Reader
from answerable.reader.weights import FEATURE_NAMES, FOLDER, WORDED_LIKE_DATA, from_bytes

VECTORS = Path(__file__).parent / "feature_vectors.json"
QUESTIONS = (
    "What is the average age of customers in Berlin for each city with more than 3 orders?",
    "Show the names of customers who are older than 30 and live in Paris or Berlin, sorted by age descending",
    "Which product has the highest price and how many orders are not returned?",
    "Names and categories of the 5 cheapest products of Ada Lovelace",
)


def _named(names: Sequence[str], vector: Sequence[float]) -> dict[str, float]:
    assert len(names) == len(vector)
    return {name: round(value, 6) for name, value in zip(names, vector, strict=True) if value}


def _vectors(reader: Reader, question: str) -> dict[str, Any]:
    scene = link_question(tokenize(question), reader.schema, reader.values)
    found = reader.rank(scene)
    maker = RoleFeaturizer(scene)
    maker.table_chance = found.roles.tables
    columns = relevant_columns(scene)[:3]
    values = [value for rivals in scene.rivals.values() for value in rivals][:2]
    best = found.ranked[0].candidate.draft
    ran = {best: dry_run_result([("Ada", 3), ("Alan", None)], ordered=False)}
    return {
        "table": [_named(TABLE_FEATURE_NAMES, maker.table(table)) for table in range(len(reader.schema.tables))],
        "column": [_named(COLUMN_FEATURE_NAMES, maker.column(*column)) for column in columns],
        "function": [_named(FUNCTION_FEATURE_NAMES, maker.function("avg", columns[0][1], 0))],
        "value": [_named(VALUE_FEATURE_NAMES, maker.value(value)) for value in values],
        "number": [_named(NUMBER_FEATURE_NAMES, maker.number(p, *columns[-1])) for p in scene.numbers],
        "number_role": [_named(NUMBER_ROLE_FEATURE_NAMES, maker.number_role(place)) for place in scene.numbers],
        "ranker": [_named(RANKER_FEATURE_NAMES, one.vector) for one in found.ranked[:4]],
        "confidence": [_named(CONFIDENCE_FEATURE_NAMES, confidence_vector(found, ran))],
    }


@pytest.fixture(scope="module")
def reader(shop: Catalog, values: ValueLookup) -> Reader:
    return Reader(shop, values, today=lambda: date(2025, 6, 15))


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_vectors_of_known_questions_are_as_they_were(reader: Reader, question: str) -> None:
    stored = json.loads(VECTORS.read_text("utf-8"))[question]
    for kind, vectors in _vectors(reader, question).items():
        assert vectors == [pytest.approx(vector, abs=2e-6) for vector in stored[kind]], kind


@pytest.mark.parametrize("model", sorted(FEATURE_NAMES))
def test_no_two_features_of_a_model_have_one_name(model: str) -> None:
    assert len(set(FEATURE_NAMES[model])) == len(FEATURE_NAMES[model])


def _swapped(names: list[str]) -> list[str]:
    return [*names[:3], names[4], names[3], *names[5:]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_swapped, "feature 4 of the model “ranker”"),
        (lambda names: names[:-1], "the model “ranker” was fitted with 163 features"),
        (lambda names: [], "the model “ranker” was fitted with 0 features"),
    ],
)
def test_weights_of_other_features_are_refused(change: Callable[[list[str]], list[str]], message: str) -> None:
    packed = unpack((FOLDER / WORDED_LIKE_DATA).read_bytes())
    features: Mapping[str, list[str]] = packed.facts["features"]
    packed.facts["features"] = {**features, "ranker": change(features["ranker"])}
    with pytest.raises(OperatorError, match=message) as refused:
        from_bytes(packed.pack())
    assert refused.value.stable_code == "weights_mismatch"


def _write() -> None:
    from tests.reader.conftest import shop, values

    made = Reader(shop.__wrapped__(), values.__wrapped__(), today=lambda: date(2025, 6, 15))  # type: ignore[attr-defined]
    lines = [f"{json.dumps(question)}: {json.dumps(_vectors(made, question))}" for question in QUESTIONS]
    VECTORS.write_text("{" + ",\n".join(lines) + "}\n", "utf-8")


if __name__ == "__main__":
    _write()

"""The fitted weights: plain numbers, shipped as data, checked against their checksum when they are loaded."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from answerable.core.errors import OperatorError
from answerable.core.records import dataclass
from answerable.reader.candidates.roles import ROLE_FEATURE_NAMES, RoleModels
from answerable.reader.fitted.linear import Linear, LinearPart
from answerable.reader.fitted.packed import Packed, unpack
from answerable.reader.fitted.trees import Trees
from answerable.reader.ranking.confidence import CONFIDENCE_FEATURE_NAMES
from answerable.reader.ranking.pooling import POOL_FEATURE_NAMES
from answerable.reader.ranking.ranker_feature_names import RANKER_FEATURE_NAMES

FOLDER = Path(__file__).parent / "weights"
WORDED_LIKE_DATA = "reader.bin"
"""Fitted on questions whose words are linked by spelling alone: best for questions that use the data's own words."""
OWN_WORDS = "own_words.bin"
"""Fitted with words also linked to names that they come near to in meaning."""
POOL = "pool.bin"
"""Says how likely each answer is to a question in people's own words (`ranking/pooling.py`)."""
PROVENANCE = "provenance.json"
FEATURE_NAMES: dict[str, tuple[str, ...]] = {
    **ROLE_FEATURE_NAMES,
    "ranker": RANKER_FEATURE_NAMES,
    "confidence": CONFIDENCE_FEATURE_NAMES,
    "untried_confidence": CONFIDENCE_FEATURE_NAMES,
    "pool": POOL_FEATURE_NAMES,
}
"""For each model the names of the features that this code computes, in order. The file has the names that its models
were fitted with: a model must never see its features in another order."""


@dataclass(frozen=True, slots=True)
class Weights:
    roles: RoleModels
    shapes: Linear
    ranker: Trees
    confidence: Trees
    """For a reading that ran, or with rivals that did."""
    untried_confidence: Trees
    """Where nothing could be run."""
    threshold: float
    """The reader answers from this confidence on. Below it, the user chooses a reading."""


@dataclass(frozen=True, slots=True)
class PoolWeights:
    trees: Trees
    threshold: float
    """The reader answers from this probability on."""


@cache
def load_weights(file: str = WORDED_LIKE_DATA, folder: Path = FOLDER) -> Weights:
    """Read once for each process. Weights that do not match their checksum are refused."""
    return from_bytes(_checked_bytes(file, folder))


@cache
def load_pool_weights(folder: Path = FOLDER) -> PoolWeights:
    data = unpack(_checked_bytes(POOL, folder))
    _check_features(data.facts.get("features", {}), ("pool",))
    return PoolWeights(_trees(data, "pool"), float(data.facts["threshold"]))


def _checked_bytes(file: str, folder: Path) -> bytes:
    raw = (folder / file).read_bytes()
    if hashlib.sha256(raw).hexdigest() != _provenances(folder)[file]["sha256"]:
        raise OperatorError(
            "The reader's weights do not match their checksum.",
            code="weights_damaged",
            hint="Install Answerable again, or rebuild the weights with `make train`.",
        )
    return raw


def from_bytes(raw: bytes) -> Weights:
    data = unpack(raw)
    _check_features(data.facts.get("features", {}), [name for name in FEATURE_NAMES if name != "pool"])
    return Weights(
        roles={name: _trees(data, name) for name in data.facts["roles"]},
        shapes=_linear(data),
        ranker=_trees(data, "ranker"),
        confidence=_trees(data, "confidence"),
        untried_confidence=_trees(data, "untried_confidence"),
        threshold=float(data.facts["threshold"]),
    )


def _check_features(fitted: Mapping[str, Sequence[str]], models: Iterable[str]) -> None:
    """Refuses weights whose features are not those of this code."""
    for model in models:
        names, stored = FEATURE_NAMES[model], fitted.get(model, ())
        if tuple(stored) != names:
            raise OperatorError(
                f"The reader's weights do not fit this version: {_first_difference(model, stored, names)}.",
                code="weights_mismatch",
                hint="Install Answerable again, or rebuild the weights with `make train`.",
            )


def _first_difference(model: str, stored: Sequence[str], names: Sequence[str]) -> str:
    for number, (fitted, computed) in enumerate(zip(stored, names, strict=False), 1):
        if fitted != computed:
            return f"feature {number} of the model “{model}” is “{fitted}” in the weights and “{computed}” in the code"
    return f"the model “{model}” was fitted with {len(stored)} features, the code computes {len(names)}"


def to_bytes(weights: Weights) -> bytes:
    packed = Packed({"roles": sorted(weights.roles), "threshold": weights.threshold, "features": FEATURE_NAMES})
    models = {
        **weights.roles,
        "ranker": weights.ranker,
        "confidence": weights.confidence,
        "untried_confidence": weights.untried_confidence,
    }
    for name, trees in models.items():
        _put_trees(packed, name, trees)
    packed.facts["grams"] = sorted(weights.shapes.grams, key=weights.shapes.grams.__getitem__)
    packed.facts["parts"] = {name: list(part.classes) for name, part in weights.shapes.parts.items()}
    for name, part in weights.shapes.parts.items():
        packed.put(f"{name}.bias", "f", part.bias)
        grams: list[int] = sorted(part.rows, key=part.rows.__getitem__)
        packed.put(f"{name}.grams", "H", grams)
        packed.put(f"{name}.weights", "f", part.weights)
    return packed.pack()


def pool_to_bytes(pool: PoolWeights) -> bytes:
    packed = Packed({"threshold": pool.threshold, "features": {"pool": POOL_FEATURE_NAMES}})
    _put_trees(packed, "pool", pool.trees)
    return packed.pack()


def _put_trees(packed: Packed, name: str, trees: Trees) -> None:
    # Type codes of `array`, as small as the numbers allow. Features are signed, because -1 marks a leaf.
    packed.put(f"{name}.roots", "I", trees.roots)
    packed.put(f"{name}.feature", "h", trees.feature)
    packed.put(f"{name}.threshold", "f", trees.threshold)
    packed.put(f"{name}.right", "i", trees.right)


def save_weights(raw: bytes, file: str, provenance: Mapping[str, Any], folder: Path = FOLDER) -> None:
    (folder / file).write_bytes(raw)
    record = {**provenance, "sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw)}
    records = {**_provenances(folder), file: record}
    (folder / PROVENANCE).write_text(json.dumps(records, indent=2, sort_keys=True) + "\n")


def _provenances(folder: Path) -> dict[str, dict[str, Any]]:
    """By file: what the weights were fitted on, and their checksum."""
    records: dict[str, dict[str, Any]] = json.loads((folder / PROVENANCE).read_text())
    return records


def _trees(data: Packed, name: str) -> Trees:
    return Trees(*(data.get(f"{name}.{field}") for field in ("roots", "feature", "threshold", "right")))


def _linear(data: Packed) -> Linear:
    grams = {gram: number for number, gram in enumerate(data.facts["grams"])}
    return Linear(grams, {name: _part(data, name, classes) for name, classes in data.facts["parts"].items()})


def _part(data: Packed, name: str, classes: Sequence[str]) -> LinearPart:
    rows = {gram: row for row, gram in enumerate(data.get(f"{name}.grams"))}
    return LinearPart(classes, data.get(f"{name}.bias"), rows, data.get(f"{name}.weights"))

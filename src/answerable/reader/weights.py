"""The fitted weights: plain numbers, shipped as data, checked against their checksum when they are loaded."""

import gzip
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from answerable.core.errors import OperatorError
from answerable.reader.roles import RoleModels
from answerable.reader.shape import Linear
from answerable.reader.trees import Trees

FOLDER = Path(__file__).parent / "weights"
FILE = "reader.json.gz"
PROVENANCE = "provenance.json"


@dataclass(frozen=True, slots=True)
class Weights:
    roles: RoleModels
    shapes: Linear
    ranker: Trees
    confidence: Trees
    threshold: float
    """The least confidence that answers without asking."""


@cache
def load_weights(folder: Path = FOLDER) -> Weights:
    """Read once for each process. Weights that do not match their checksum are refused."""
    raw = (folder / FILE).read_bytes()
    provenance = json.loads((folder / PROVENANCE).read_text())
    if hashlib.sha256(raw).hexdigest() != provenance["sha256"]:
        raise OperatorError(
            "The reader's weights do not match their checksum.",
            code="weights_damaged",
            hint="Install Answerable again, or rebuild the weights with `make train`.",
        )
    return from_plain(json.loads(gzip.decompress(raw)))


def from_plain(data: Mapping[str, Any]) -> Weights:
    shapes = data["shapes"]
    return Weights(
        roles={name: _trees(trees) for name, trees in data["roles"].items()},
        shapes=Linear(shapes["classes"], shapes["bias"], shapes["weights"]),
        ranker=_trees(data["ranker"]),
        confidence=_trees(data["confidence"]),
        threshold=float(data["threshold"]),
    )


def to_plain(weights: Weights) -> dict[str, Any]:
    shapes = weights.shapes
    return {
        "roles": {name: _plain(trees) for name, trees in weights.roles.items()},
        "shapes": {"classes": shapes.classes, "bias": shapes.bias, "weights": shapes.weights},
        "ranker": _plain(weights.ranker),
        "confidence": _plain(weights.confidence),
        "threshold": weights.threshold,
    }


def save_weights(weights: Weights, provenance: Mapping[str, Any], folder: Path = FOLDER) -> None:
    text = json.dumps(to_plain(weights), separators=(",", ":"), sort_keys=True)
    raw = gzip.compress(text.encode(), 9, mtime=0)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_bytes(raw)
    record = {**provenance, "sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw)}
    (folder / PROVENANCE).write_text(json.dumps(record, indent=2, sort_keys=True) + "\n")


def _trees(data: Mapping[str, Any]) -> Trees:
    return Trees(data["roots"], data["feature"], data["threshold"], data["right"])


def _plain(trees: Trees) -> dict[str, Any]:
    return {"roots": trees.roots, "feature": trees.feature, "threshold": trees.threshold, "right": trees.right}

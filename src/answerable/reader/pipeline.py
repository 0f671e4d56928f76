"""From a question to ranked candidates: the stages in their order, with what each found."""

from collections.abc import Sequence
from dataclasses import dataclass

from answerable.reader.candidates.clause_options import gather
from answerable.reader.candidates.compose import Candidate, Composer
from answerable.reader.candidates.role_features import Vector
from answerable.reader.candidates.roles import RoleModels, Roles, assign_roles
from answerable.reader.candidates.shape import Linear, grams
from answerable.reader.fitted.trees import Trees
from answerable.reader.linking.scene import Scene
from answerable.reader.ranking.ranker_features import Ranker

_FAR_BEHIND = 2.0


@dataclass(frozen=True, slots=True)
class Ranked:
    candidate: Candidate
    vector: Vector
    score: float


@dataclass(frozen=True, slots=True)
class Understanding:
    scene: Scene
    roles: Roles
    shapes: dict[str, dict[str, float]]
    ranked: tuple[Ranked, ...]
    """The best first."""


def in_the_lead(scores: Sequence[float]) -> float:
    """Which candidates may still become the first few."""
    return max(scores, default=0.0) - _FAR_BEHIND


def understand(scene: Scene, roles: RoleModels, shapes: Linear, ranker: Trees) -> Understanding:
    assigned = assign_roles(scene, roles)
    chances = shapes.chances(grams(scene))
    candidates = Composer(scene, gather(scene, assigned), chances).candidates()
    vectors = Ranker(scene, assigned, candidates).vectors()
    joined = [(candidate, vector) for candidate, vector in zip(candidates, vectors, strict=True) if vector is not None]
    scores = ranker.scores([vector for _, vector in joined], in_the_lead)
    ranked = [Ranked(*pair, score) for pair, score in zip(joined, scores, strict=True)]
    ranked.sort(key=lambda one: -one.score)
    return Understanding(scene, assigned, chances, tuple(ranked))

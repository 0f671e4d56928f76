"""From a question to ranked candidates: the stages in their order, and the result of each."""

from collections.abc import Sequence

from answerable.core.records import dataclass
from answerable.reader.candidates.compose import compose_candidates
from answerable.reader.candidates.composition import Candidate
from answerable.reader.candidates.roles import RoleModels, Roles, assign_roles
from answerable.reader.candidates.shape import grams
from answerable.reader.fitted.features import Vector
from answerable.reader.fitted.linear import Linear
from answerable.reader.fitted.trees import Trees
from answerable.reader.linking.scene import Scene
from answerable.reader.ranking.ranker_features import CandidateFeaturizer

# In units of the ranker's score. Only the first few candidates are offered, so the trees stop early for the others.
_FAR_BEHIND = 2.0


@dataclass(frozen=True, slots=True)
class RankedCandidate:
    candidate: Candidate
    vector: Vector
    score: float


@dataclass(frozen=True, slots=True)
class CandidateRanking:
    scene: Scene
    roles: Roles
    shapes: dict[str, dict[str, float]]
    ranked: tuple[RankedCandidate, ...]
    """The best first."""


def least_score(scores: Sequence[float]) -> float:
    """The score below which a candidate cannot become one of the first few any more."""
    return max(scores, default=0.0) - _FAR_BEHIND


def rank_candidates(scene: Scene, roles: RoleModels, shapes: Linear, ranker: Trees) -> CandidateRanking:
    assigned = assign_roles(scene, roles)
    chances = shapes.chances(grams(scene))
    candidates = compose_candidates(scene, assigned, chances)
    vectors = CandidateFeaturizer(scene, assigned, candidates).vectors()
    joined = [(candidate, vector) for candidate, vector in zip(candidates, vectors, strict=True) if vector is not None]
    scores = ranker.scores([vector for _, vector in joined], least_score)
    ranked = [RankedCandidate(*pair, score) for pair, score in zip(joined, scores, strict=True)]
    ranked.sort(key=lambda one: -one.score)
    return CandidateRanking(scene, assigned, chances, tuple(ranked))

"""The state of a question while it is routed, and the tests of the routing table. All of it is pure."""

from dataclasses import field
from typing import TYPE_CHECKING

from answerable.agents.small_talk import Topic
from answerable.answers.answer import Choice
from answerable.answers.capsule import read_capsule
from answerable.core.records import dataclass
from answerable.engine.steps.understand import Conversation, Question
from answerable.query.plan import QueryPlan
from answerable.reader.learned_questions import LearnedAnswer
from answerable.reader.reading import Read, Reply

if TYPE_CHECKING:
    from answerable.agents.replies import Planned
    from answerable.reader.graph_words import PathAnswer

MAX_QUESTION = 10_000
"""Characters."""


@dataclass(frozen=True, slots=True)
class Situation:
    """The fields after `chosen` are None until a `Fact` of the routing table has filled them in."""

    question: Question
    conversation: Conversation = field(default_factory=Conversation)
    has_model: bool = False
    wants_first_look: bool = False
    """Whether the settings let a model look at a question before it is planned."""
    chosen: Choice | None = None
    """The reading that the user picked from the last question back."""
    topic: Topic | None = None
    """What the message is about if it is small talk, or a question about Answerable itself."""
    previous: QueryPlan | None = None
    """The plan of the last answer, which a follow-up refers to."""
    reply: Reply | None = None
    """How the reader reads the question."""
    learned: LearnedAnswer | None = None
    """The statement of `semantic.yaml` that answers it."""
    paths: "PathAnswer | None" = None
    """The query that shows the ways through a graph which it asks for."""
    example: str | None = None
    """The saved question that this one was read like."""
    planned: "Planned | None" = None
    """How a model would answer it."""
    failure: str | None = None
    """Why no model could plan it."""

    # The tests of the routing table. A test may rely on it that no route above its own has applied.

    def lacks_its_model(self) -> bool:
        return self.question.mode != "auto" and not self.has_model

    def is_empty(self) -> bool:
        return not self.question.text.strip()

    def is_too_long(self) -> bool:
        return len(self.question.text) > MAX_QUESTION

    def chose_a_plan(self) -> bool:
        return self.chosen is not None and self.chosen.plan is not None

    def is_small_talk(self) -> bool:
        return self.topic is not None

    def asks_to_explore(self) -> bool:
        return self.question.mode == "react"

    def was_learned(self) -> bool:
        return self.learned is not None and self.question.mode == "auto" and not self.question.plan_only

    def asks_for_paths(self) -> bool:
        return self.paths is not None and self.question.mode == "auto" and not self.question.plan_only

    def is_read(self) -> bool:
        """The reader is sure of its reading, and the user did not ask for a model."""
        return isinstance(self.reply, Read) and self.question.mode == "auto"

    def is_read_to_be_shown(self) -> bool:
        return self.is_read() and self.question.plan_only

    def is_read_across_sources(self) -> bool:
        return self.is_read() and bool(self.question.sources)

    def may_use_experience(self) -> bool:
        """The reader is not sure by itself, and the question is about a single source."""
        return self.question.experience and not isinstance(self.reply, Read) and not self.question.sources

    def has_no_model(self) -> bool:
        return not self.has_model

    def needs_first_look(self) -> bool:
        """A question with a hint needs no first look: the hint comes from an earlier look or from the user's choice.
        Without this rule the first look would route its own question back to itself."""
        return self.wants_first_look and self.question.hint is None

    def is_left_to_the_reader(self) -> bool:
        return self.failure is not None

    def is_planned_to_explore(self) -> bool:
        return self.planned is not None and self.planned.explore and self.question.mode == "auto"

    def has_offered_readings(self) -> bool:
        return self.planned is not None and bool(self.planned.ask) and not self.planned.steps

    def has_no_steps(self) -> bool:
        return self.planned is not None and not self.planned.steps

    def is_planned_to_be_shown(self) -> bool:
        return self.planned is not None and self.question.plan_only

    def is_planned(self) -> bool:
        return self.planned is not None


def previous_plan(conversation: Conversation) -> QueryPlan | None:
    """The plan that a follow-up refers to: that of the last answer. After a question back that nobody answered, that of
    its likeliest reading, or else of the last answer before it."""
    for body in (conversation.last, conversation.answered):
        if body is None:
            continue
        answer = read_capsule(body).answer
        plan = answer.provenance.plan or next((choice.plan for choice in answer.choices if choice.plan), None)
        if plan:
            return QueryPlan.model_validate(plan)
    return None


def follows_a_question_back(conversation: Conversation) -> bool:
    return conversation.last is not None and read_capsule(conversation.last).answer.kind == "clarify"

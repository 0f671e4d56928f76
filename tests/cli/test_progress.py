"""What a waiting person sees of a run on the terminal."""

import pytest

from answerable.cli.output import progress_text
from answerable.core.events import Event, StepProgress, StepRetried, StepStarted
from answerable.core.ids import NodeId, RunId

RUN, NODE = RunId("run_1"), NodeId("query")


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (StepProgress(RUN, 1, 0.0, NODE, "Reading orders.csv", 1200, 4000), "Reading orders.csv … 1,200 of 4,000"),
        (StepProgress(RUN, 1, 0.0, NODE, "12 MB of rows written", None, None), "12 MB of rows written …"),
        (
            StepRetried(RUN, 1, 0.0, NODE, 1, 0.5, "worker_died", "A worker was killed."),
            "A worker was killed. Trying again in 0.5 s …",
        ),
        (StepStarted(RUN, 1, 0.0, NODE, 1), None),
    ],
)
def test_progress_is_one_line(event: Event, text: str | None) -> None:
    assert progress_text(event) == text

"""What `/metrics` tells. Runs and steps are counted from their events, by a listener."""

from prometheus_client import Counter, Gauge, Histogram
from prometheus_client.registry import CollectorRegistry

from answerable.core.events import (
    Event,
    RunCancelled,
    RunFailed,
    RunFinished,
    StepFailed,
    StepFinished,
    StepRetried,
)
from answerable.engine.outcome import was_refused


class Metrics:
    """One registry for each gateway, so that two in one process do not mix."""

    def __init__(self) -> None:
        self.collectors = CollectorRegistry()
        self.requests = self._counter("answerable_http_requests", "HTTP requests", "method", "route", "status")
        self.seconds = Histogram(
            "answerable_http_request_seconds",
            "Time to the end of the response",
            ("method", "route"),
            registry=self.collectors,
        )
        self.runs = self._counter("answerable_runs", "Ended runs", "status")
        self.running = Gauge("answerable_runs_running", "Runs under way", registry=self.collectors)
        self.steps = self._counter("answerable_steps", "Ended steps", "status")
        self.retries = self._counter("answerable_step_retries", "Steps that were tried again", "code")
        self.step_seconds = Histogram("answerable_step_seconds", "Time a step took", registry=self.collectors)
        # Creates the series with 0, so that a rate over them is right from the first event.
        for status in ("done", "refused", "failed", "cancelled"):
            self.runs.labels(status)

    def __call__(self, event: Event) -> None:
        match event:
            case StepFinished():
                self.steps.labels("done").inc()
                self.step_seconds.observe(event.duration_ms / 1000)
            case StepFailed():
                self.steps.labels("failed").inc()
            case StepRetried():
                self.retries.labels(event.code).inc()
            case RunFinished():
                self._ended(event.status)
            case RunFailed():
                self._ended("refused" if was_refused(event) else "failed")
            case RunCancelled():
                self._ended("cancelled")

    def _ended(self, status: str) -> None:
        self.runs.labels(status).inc()

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        return Counter(name, meaning, labels, registry=self.collectors)

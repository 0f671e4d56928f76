"""Risky sign-ins, found in the system log: travel too fast, new devices, bursts of failures, and MFA fatigue."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from math import asin, cos, radians, sin, sqrt

SIGN_IN, PUSH_DENIED, MFA = "user.session.start", "user.mfa.okta_verify.deny_push", "user.authentication.auth_via_mfa"
FASTEST_KMH = 900.0
"""Faster than an airliner, nobody travels."""
FAR_KM = 500.0
"""Places of addresses are guesses: what is nearer may be the same place."""
FAILURES, DENIALS = 5, 3
WINDOW = timedelta(minutes=10)
KNOWN_SIGN_INS = 3
"""So many sign-ins must be known before a device counts as new."""


@dataclass(frozen=True, slots=True)
class LogEvent:
    published: datetime
    event_type: str
    succeeded: bool
    city: str | None = None
    latitude: float | None = None
    longitude: float | None = None
    browser: str | None = None
    operating_system: str | None = None


@dataclass(frozen=True, slots=True)
class Risk:
    kind: str
    detected: datetime
    details: str


def risks_of(events: Sequence[LogEvent]) -> list[Risk]:
    """The risks in the events of one user."""
    ordered = sorted(events, key=lambda event: event.published)
    sign_ins = [event for event in ordered if event.event_type == SIGN_IN]
    succeeded = [event for event in sign_ins if event.succeeded]
    failed = [event for event in sign_ins if not event.succeeded]
    denied = [event for event in ordered if event.event_type == PUSH_DENIED]
    found = [*_travel(succeeded), *_new_devices(succeeded), *_bursts(failed), *_fatigue(denied, ordered)]
    return sorted(found, key=lambda risk: risk.detected)


def _travel(sign_ins: Sequence[LogEvent]) -> Iterator[Risk]:
    placed = [event for event in sign_ins if event.latitude is not None and event.longitude is not None]
    for before, after in pairwise(placed):
        far = _kilometres(before, after)
        hours = max((after.published - before.published).total_seconds() / 3600, 1 / 60)
        if far >= FAR_KM and far / hours > FASTEST_KMH:
            way = f"{before.city} to {after.city}, {far:,.0f} km in {hours:.1f} hours"
            yield Risk("impossible travel", after.published, way)


def _new_devices(sign_ins: Sequence[LogEvent]) -> Iterator[Risk]:
    known: set[tuple[str | None, str | None]] = set()
    for number, event in enumerate(sign_ins):
        device = (event.browser, event.operating_system)
        if device not in known and number >= KNOWN_SIGN_INS and any(device):
            yield Risk("new device", event.published, f"{event.browser} on {event.operating_system}")
        known.add(device)


def _bursts(failed: Sequence[LogEvent]) -> Iterator[Risk]:
    for run in _runs(failed, FAILURES):
        yield Risk("failed burst", run[-1].published, f"{len(run)} failed sign-ins within {_minutes(run)} minutes")


def _fatigue(denied: Sequence[LogEvent], events: Sequence[LogEvent]) -> Iterator[Risk]:
    for run in _runs(denied, DENIALS):
        last = run[-1].published
        accepted = (e.published for e in events if e.event_type == MFA and e.succeeded)
        end = ", then accepted" if any(last <= moment <= last + WINDOW for moment in accepted) else ""
        yield Risk("MFA fatigue", last, f"{len(run)} pushes denied within {_minutes(run)} minutes{end}")


def _runs(events: Sequence[LogEvent], least: int) -> Iterator[Sequence[LogEvent]]:
    """Runs of events, none longer than the window, that have at least so many."""
    start = 0
    while start < len(events):
        end = start
        while end + 1 < len(events) and events[end + 1].published - events[start].published <= WINDOW:
            end += 1
        if end - start + 1 >= least:
            yield events[start : end + 1]
            start = end + 1
        else:
            start += 1


def _minutes(run: Sequence[LogEvent]) -> int:
    return max(1, round((run[-1].published - run[0].published).total_seconds() / 60))


def _kilometres(one: LogEvent, other: LogEvent) -> float:
    """Along the surface of the earth."""
    a, b = radians(one.latitude or 0), radians(other.latitude or 0)
    east = radians((other.longitude or 0) - (one.longitude or 0))
    h = sin((b - a) / 2) ** 2 + cos(a) * cos(b) * sin(east / 2) ** 2
    return 2 * 6371 * asin(sqrt(h))

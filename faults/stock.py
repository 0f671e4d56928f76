"""What is left after the harm: four lists that must be empty."""

from dataclasses import asdict, dataclass, field, fields


@dataclass
class Stock:
    requests: int = 0
    """Acknowledged while the harm was done and after it."""
    lost: list[str] = field(default_factory=list)
    """Acknowledged, and not there or not what was acknowledged."""
    doubled: list[str] = field(default_factory=list)
    """Messages, answers, steps or edits that are there twice."""
    stuck: list[str] = field(default_factory=list)
    """Runs that have not ended and requests without a reply, long after the harm ended."""
    orphaned: list[str] = field(default_factory=list)
    """Processes, files, leases and rows whose owner is gone."""

    @property
    def whole(self) -> bool:
        return not any(self.counts().values())

    def counts(self) -> dict[str, int]:
        return {one.name: len(getattr(self, one.name)) for one in fields(self) if one.name != "requests"}

    def as_json(self) -> dict[str, object]:
        return asdict(self)

    def add(self, other: "Stock") -> None:
        for one in fields(self):
            setattr(self, one.name, getattr(other, one.name) + getattr(self, one.name))

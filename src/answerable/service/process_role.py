"""What a process is there for: a command, a server, or a worker."""

from answerable.core.records import dataclass


@dataclass(frozen=True, slots=True)
class ProcessRole:
    """How a process takes part in carrying out runs. The default is a command: it asks, waits for its run, and ends."""

    patient: bool = False
    """Runs wait for a store that is away, as in a process that stays. In a command they fail."""
    hides_paths: bool = False
    """Errors leave out where files are on the disk, because people at other machines read them."""
    leaves_runs: bool = False
    """Runs are only stored, for workers to carry out."""
    carried_at_once: int | None = None
    """How many runs a worker takes at the same time. None: the process is no worker."""
    working_at_once: int | None = None
    """How many runs work at the same time; others wait for their turn. None: any number."""
    computing_processes: int = 0
    """How many processes may compute beside this one when many people ask."""


COMMAND = ProcessRole()

"""Which models are set now: as the settings said at the start, or as they were changed since."""

from answerable.core.records import dataclass
from answerable.models.config import ModelsConfig


@dataclass(slots=True)
class CurrentModels:
    """One for each process. Whoever is about to ask a model looks here, so a change holds from the next call on."""

    config: ModelsConfig
    share_rows: bool
    """Whether values of the data may be sent to a model."""
    share_personal: bool
    """Whether personal data may be among them."""

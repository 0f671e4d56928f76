"""Who may run which stored graph, and who may write graphs. Pure decisions of `access/view.py`, asked for a person."""

from answerable.core.context import Principal
from answerable.core.errors import RefusedError
from answerable.sources.registry import SourceRegistry


class GraphPermissions:
    def __init__(self, registry: SourceRegistry) -> None:
        self._registry = registry

    def require(self, name: str, principal: Principal) -> None:
        """Raises `RefusedError` if the person may not see and run the stored graph."""
        view = self._registry.view(principal)
        if view is not None:
            view.require_graph(name)

    def allow(self, name: str, principal: Principal) -> bool:
        try:
            self.require(name, principal)
        except RefusedError:
            return False
        return True

    def require_inside(self, name: str, principal: Principal) -> None:
        """Raises `RefusedError` if a rule denies a graph that another one holds. What holds it may be allowed alone."""
        view = self._registry.view(principal)
        if view is not None:
            view.require_graph_inside(name)

    def require_writing(self, principal: Principal) -> None:
        """Raises `RefusedError` if the person may not write all that a graph can hold."""
        view = self._registry.view(principal)
        if view is not None:
            view.require_writing()

"""Kind `router`: chooses the first route whose conditions hold. Its output is the name of that route.

The nodes of a route come after the router with the condition that the output is their route; the others are skipped.
"""

from collections.abc import Mapping

from answerable.core.errors import UserError
from answerable.core.values import Frozen, Json
from answerable.engine.conditions import holds
from answerable.engine.graph import Condition, Node
from answerable.engine.steps.base import Step
from answerable.engine.steps.descriptor import StepDescriptor


class RouterConfig(Frozen):
    routes: Mapping[str, tuple[Condition, ...]]
    """In the order in which they are tried. A route without conditions always holds."""


class RouterStep:
    descriptor = StepDescriptor(name="router", config=RouterConfig, produces="value", label="router")

    def is_computed(self, _node: Node) -> bool:
        return True

    async def run(self, step: Step) -> Json:
        for route, conditions in step.config_as(RouterConfig).routes.items():
            if all(holds(each, step.inputs.get(each.input)) for each in conditions):
                return route
        raise UserError(
            f"Step `{step.id}`: no route fits.", code="route_missing", hint="Give the router a `default` route."
        )

"""The APIs that the operator configured, opened when a program first asks for one."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from pydantic import ValidationError

from answerable.core.clock import Clock
from answerable.core.errors import OperatorError
from answerable.core.values import Json
from answerable.sandbox.base import HostCalls

if TYPE_CHECKING:
    from answerable.sandbox.broker import Broker


class Apis:
    def __init__(self, given: Mapping[str, Mapping[str, Json]], clock: Clock, seconds: float) -> None:
        """`given`: an `ApiTarget` by its name, as it stands in the settings; `seconds`: how long a program may wait."""
        self._given = given
        self._clock = clock
        self._seconds = seconds

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._given)

    def calls(self, api: str, tell: Callable[[Json], None]) -> HostCalls:
        return self._broker.calls(api, tell, seconds=self._seconds)

    @cached_property
    def _broker(self) -> "Broker":
        from answerable.sandbox.api_target import ApiTarget
        from answerable.sandbox.broker import Broker  # brings the HTTP client

        try:
            targets = {name: ApiTarget.model_validate(target) for name, target in self._given.items()}
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            message = f"`apis` in the settings is wrong: {where}: {first['msg']}."
            raise OperatorError(message, code="settings_invalid") from None
        return Broker(targets, clock=self._clock)

    async def close(self) -> None:
        if "_broker" in self.__dict__:
            await self._broker.close()

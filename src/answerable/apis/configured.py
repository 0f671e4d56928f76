"""The APIs of the settings, opened when one is first used: the HTTP client takes long to import."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from pydantic import ValidationError

from answerable.core.clock import Clock
from answerable.core.errors import OperatorError
from answerable.core.validation import first_problem
from answerable.core.values import Json

if TYPE_CHECKING:
    from answerable.apis.broker import Broker
    from answerable.apis.call import BeforeWrite, RequestRecord
    from answerable.apis.session import ApiSession
    from answerable.apis.target import ApiTarget


class ConfiguredApis:
    def __init__(self, settings: Mapping[str, Mapping[str, Json]], clock: Clock) -> None:
        """`settings`: the fields of an `ApiTarget` by the API's name."""
        self._settings = settings
        self._clock = clock

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._settings)

    def target(self, api: str) -> "ApiTarget":
        return self._targets[api]

    def session(
        self,
        api: str,
        record: "Callable[[RequestRecord], None]",
        *,
        seconds: float,
        before_write: "BeforeWrite | None" = None,
    ) -> "ApiSession":
        return self._broker.session(api, record, seconds=seconds, before_write=before_write)

    @cached_property
    def _targets(self) -> "Mapping[str, ApiTarget]":
        from answerable.apis.target import ApiTarget

        try:
            return {name: ApiTarget.model_validate(fields) for name, fields in self._settings.items()}
        except ValidationError as error:
            message = f"`apis` in the settings is wrong: {first_problem(error).at('')}."
            raise OperatorError(message, code="settings_invalid") from None

    @cached_property
    def _broker(self) -> "Broker":
        from answerable.apis.broker import Broker

        return Broker(self._targets, clock=self._clock)

    async def close(self) -> None:
        if "_broker" in self.__dict__:
            await self._broker.close()

"""`answerable graph schedule`"""

from typing import TYPE_CHECKING

import click

from answerable.cli.graph_input import json_values, named_version
from answerable.cli.output import json_option, say, tell_json
from answerable.cli.session import with_service

if TYPE_CHECKING:
    from answerable.core.context import Principal
    from answerable.service import Service
    from answerable.service.schedules import ScheduleView


@click.group("schedule")
def schedule() -> None:
    """When stored graphs run by themselves. A server runs them."""


@schedule.command("add")
@click.argument("name")
@click.argument("graph")
@click.option("--cron", required=True, help="Minute, hour, day of month, month, day of week: '0 7 * * mon'.")
@click.option("--zone", default="UTC", show_default=True, help="The time zone, such as Europe/Berlin.")
@click.option(
    "--catch-up",
    type=click.Choice(["skip", "last", "all"]),
    default="last",
    show_default=True,
    help="What to do about times at which no server ran.",
)
@click.option("--input", "-i", "fields", multiple=True, metavar="KEY=JSON", help="A field of the input.")
@json_option
def add_schedule(
    name: str, graph: str, cron: str, zone: str, catch_up: str, fields: tuple[str, ...], as_json: bool
) -> None:
    """Run GRAPH (NAME or NAME@VERSION) at certain times, as the schedule NAME."""
    wanted, version = named_version(graph)
    values = json_values(fields)

    async def store(service: "Service", principal: "Principal") -> "ScheduleView":
        from pydantic import ValidationError

        from answerable.core.errors import UserError
        from answerable.core.validation import first_problem
        from answerable.graphs.schedules import GraphSchedule

        body = {"graph": wanted, "version": version, "cron": cron, "zone": zone, "catch_up": catch_up, "input": values}
        try:
            wished = GraphSchedule.model_validate(body)
        except ValidationError as error:
            raise UserError(f"{first_problem(error).message}.", code="schedule_invalid") from error
        return await service.schedules.add(name, wished, principal)

    stored = with_service(store)
    if as_json:
        tell_json(stored.model_dump(mode="json"))
    else:
        say(f"{stored.name}: {stored.schedule.graph} runs next at {stored.next_at.isoformat()}")


@schedule.command("list")
@json_option
def list_schedules(as_json: bool) -> None:
    """Stored schedules, and when each is due."""
    found = with_service(lambda service, principal: service.schedules.list(principal))
    if as_json:
        tell_json({"schedules": [each.model_dump(mode="json") for each in found]})
        return
    for each in found:
        plan = each.schedule
        say(f"{each.name}  {plan.graph}  {plan.cron} ({plan.zone})  next {each.next_at.isoformat()}")
        if each.problem is not None:
            say(f"  The last time: {each.problem}")


@schedule.command("remove")
@click.argument("name")
@json_option
def remove_schedule(name: str, as_json: bool) -> None:
    """Remove the schedule NAME. Runs that it has begun go on."""
    with_service(lambda service, principal: service.schedules.remove(name, principal))
    if as_json:
        tell_json({"removed": name})
    else:
        say(f"{name} is removed.")

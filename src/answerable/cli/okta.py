"""`answerable okta`"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from answerable.cli.output import exit_code, json_option, progress, say, tell_answer, tell_json, write_whole
from answerable.cli.session import with_service

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from answerable.answers.answer import Answer
    from answerable.apis.openapi.endpoints import ApiEndpoint
    from answerable.core.context import Principal
    from answerable.okta.event_types import EventCategory
    from answerable.okta.reports import TenantReport
    from answerable.okta.sync.run import SyncRecord
    from answerable.service import Service
    from answerable.service.okta import TenantView


@click.group("okta")
def command() -> None:
    """Sync an Okta tenant, or simulate one. See docs/okta.md."""


@command.command("sync")
@click.argument("name")
@click.argument("url", required=False)
@click.option("--token-from", metavar="VARIABLE", help="Environment variable with the API token; else OKTA_API_TOKEN.")
@click.option("--client-id", help="Of an application with a private key, which is then in the variable.")
@click.option("--full", is_flag=True, help="Read everything anew, not only what has changed.")
@click.option("--log-days", type=click.FloatRange(min=0), default=30, show_default=True, help="Of the log, at first.")
@json_option
def sync(
    name: str,
    url: str | None,
    token_from: str | None,
    client_id: str | None,
    full: bool,
    log_days: float,
    as_json: bool,
) -> None:
    """Sync the tenant at URL into a source called NAME; URL is needed the first time only.

    A sync that was interrupted goes on where it stopped.
    """
    from dataclasses import asdict

    with progress(f"Syncing {name} …") as show:

        def report(message: str, done: float | None, total: float | None) -> None:
            if show is not None:
                show(f"{message} … {done or 0:,.0f} of {total or 0:,.0f} lists")

        record = with_service(
            lambda service, principal: service.okta.sync(
                name,
                principal,
                url=url,
                token_from=token_from,
                client_id=client_id,
                full=full,
                log_days=log_days,
                progress=report,
            )
        )
    if as_json:
        tell_json(asdict(record))
        return
    from answerable.service.okta import source_of_tenant

    say(f"{name} is synced ({record.kind}): {record.rows or 0:,} rows on {record.pages or 0:,} pages.")
    say(f"{record.added or 0} added, {record.changed or 0} changed, {record.removed or 0} removed since the last sync.")
    if record.error:
        say(record.error)
    say(f'Ask it: answerable ask "Which users have never logged in?" --source {source_of_tenant(name)}')


@command.command("list")
@json_option
def list_tenants(as_json: bool) -> None:
    """Synced tenants: when each was synced, and when it is synced next."""
    found = with_service(lambda service, principal: service.okta.tenants(principal))
    if as_json:
        tell_json({"tenants": [tenant.model_dump(mode="json") for tenant in found]})
        return
    for tenant in found:
        _tell_tenant(tenant)


@command.command("show")
@click.argument("name")
@json_option
def show_tenant(name: str, as_json: bool) -> None:
    """The synced tenant NAME: what it holds, when it was synced, and when it is synced next."""
    tenant = with_service(lambda service, principal: service.okta.tenant(name, principal))
    if as_json:
        tell_json(tenant.model_dump(mode="json"))
        return
    _tell_tenant(tenant)
    for entity in tenant.entities:
        say(f"    {entity.rows:10,}  {entity.name.replace('_', ' ')}")


def _tell_tenant(tenant: "TenantView") -> None:
    synced = f"synced {tenant.last_sync:%Y-%m-%d %H:%M} UTC" if tenant.last_sync else "never synced to the end"
    say(f"{tenant.name}  {tenant.url}  {synced}")
    if tenant.schedule:
        say(
            f"    next at {tenant.schedule.next_at:%Y-%m-%d %H:%M} UTC ({tenant.schedule.cron}, {tenant.schedule.zone})"
        )
    if tenant.running:
        say(f"    {tenant.running.message} ({tenant.running.done:,} of {tenant.running.total:,} lists)")
    if tenant.problem:
        say(f"    {tenant.problem}")


@command.command("schedule")
@click.argument("name")
@click.argument("cron", required=False)
@click.option("--zone", default="UTC", show_default=True, help="Time zone of CRON, such as Europe/Berlin.")
@click.option("--remove", is_flag=True, help="Sync it no more by itself.")
def schedule_syncs(name: str, cron: str | None, zone: str, remove: bool) -> None:
    """Sync the tenant NAME by itself at the times of CRON, such as "0 * * * *", while `answerable serve` runs."""
    if (cron is None) != remove:
        raise click.UsageError("Name either CRON or --remove.")
    if cron is None:
        with_service(lambda service, principal: service.okta.unschedule(name, principal))
        say(f"{name} is no longer synced by itself.")
        return
    tenant = with_service(lambda service, principal: service.okta.schedule(name, cron, principal, zone=zone))
    _tell_tenant(tenant)


@command.command("history")
@click.argument("name")
@json_option
def show_history(name: str, as_json: bool) -> None:
    """The syncs of NAME: when, how long, what they found, and what went wrong."""
    from dataclasses import asdict

    async def records(service: "Service", principal: "Principal") -> "Sequence[SyncRecord]":
        return service.okta.history(name, principal)

    found = with_service(records)
    if as_json:
        tell_json({"syncs": [asdict(record) for record in found]})
        return
    for record in found:
        figures = f"{record.added or 0} added, {record.changed or 0} changed, {record.removed or 0} removed"
        say(f"{record.started}  {record.kind:11}  {record.status:8}  {record.seconds or 0:7.1f} s  {figures}")
        if record.error:
            say(f"    {record.error}")


@command.command("reports")
@json_option
def list_reports(as_json: bool) -> None:
    """Reports about synced tenants, and their inputs."""

    async def reports(service: "Service", principal: "Principal") -> "Sequence[TenantReport]":
        return service.okta.reports(principal)

    found = with_service(reports)
    if as_json:
        listed = [{"name": r.name, "title": r.title, "inputs": r.inputs.model_json_schema()} for r in found]
        tell_json({"reports": listed})
        return
    for report in found:
        say(f"{report.name:22} {report.title}")
        for name, field in report.inputs.model_fields.items():
            say(f"    {name}{'' if field.is_required() else '?'}: {field.description}")


@command.command("report")
@click.argument("name")
@click.argument("report")
@click.option("--with", "inputs", multiple=True, metavar="INPUT=VALUE", help="Of the report; may be repeated.")
@click.option("--rows", type=click.IntRange(0, 10_000), default=20, show_default=True, help="Rows to show.")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write all rows to this file.")
@json_option
def run_report(name: str, report: str, inputs: tuple[str, ...], rows: int, output: Path | None, as_json: bool) -> None:
    """Answer REPORT about the synced tenant NAME: `okta report corp access --with user="Ada Hansen" --with …`.

    `okta reports` lists them. The ending of --output says the format: .csv, .xlsx, .json, .parquet.
    """
    given = dict(pair.partition("=")[::2] for pair in inputs)

    async def answered(service: "Service", principal: "Principal") -> "Answer":
        answer = await service.okta.report(name, report, principal, given)
        if output is not None and answer.provenance.artifact is not None:
            from answerable.answers.export import export, format_of

            path = await service.answers.rows_path(answer, principal)
            write_whole(output, export(path, format_of(output)))
        return await service.answers.with_rows(answer, rows, principal)

    answer = with_service(answered)
    if as_json:
        tell_json(answer.model_dump(mode="json"))
    else:
        tell_answer(report, answer)
    sys.exit(exit_code(answer))


@command.command("live")
@click.argument("name")
@click.option("--entity", "entities", multiple=True, help="A table of the live source; may be repeated.")
def add_live(name: str, entities: tuple[str, ...]) -> None:
    """Add the live API of the synced tenant NAME as a source, for questions about what is so right now."""
    called = with_service(lambda service, principal: service.okta.live(name, principal, entities))
    say(f'Ask it: answerable ask "How many users are there?" --source {called}')


@command.command("endpoints")
@json_option
def list_endpoints(as_json: bool) -> None:
    """The endpoints of Okta's API that can be read live, by entity."""

    async def found(service: "Service", principal: "Principal") -> "Sequence[ApiEndpoint]":
        return service.okta.endpoints(principal)

    listed = with_service(found)
    if as_json:
        rows = [{"entity": each.entity, "operation": each.operation, "path": each.path} for each in listed]
        tell_json({"endpoints": rows})
        return
    for each in sorted(listed, key=lambda each: (each.entity, each.path)):
        say(f"{each.entity:40} {each.operation:5} {each.path}")
    say(f"{len(listed)} endpoints of {len({each.entity for each in listed})} entities.")


@command.command("events")
@click.argument("categories", nargs=-1)
@json_option
def list_events(categories: tuple[str, ...], as_json: bool) -> None:
    """The categories of events in Okta's log, or the event types of one to three CATEGORIES."""
    from dataclasses import asdict

    async def found(service: "Service", principal: "Principal") -> "Sequence[EventCategory]":
        return service.okta.events(categories, principal)

    listed = with_service(found)
    if as_json:
        tell_json({"categories": [asdict(each) for each in listed]})
        return
    for each in listed:
        say(f"{each.id:32} {len(each.events):5} events")
        for event, text in each.events.items() if categories else ():
            say(f"    {event:60} {text}")


@command.command("remove")
@click.argument("name")
def remove(name: str) -> None:
    """Remove the synced tenant NAME: the source and its data. Nothing changes in Okta."""
    with_service(lambda service, principal: service.okta.remove(name, principal))
    say(f"{name} is removed.")


@command.command("simulate")
@click.option("--users", type=click.IntRange(10, 500_000), default=1_000, show_default=True)
@click.option("--groups", type=click.IntRange(0, 50_000), help="Groups besides those of departments and offices.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed makes the same tenant.")
@click.option("--now", type=click.DateTime(), help="The time in the tenant, in UTC; else the time of today.")
@click.option(
    "--rate", type=click.FloatRange(min=0.001), help="Share of Okta's own limits, 1 for all of them; else no limits."
)
@click.option("--changes", type=click.FloatRange(min=0), default=0, help="Changes a minute, such as people who join.")
@click.option("--token", help="API token to accept instead of a fixed one.")
@click.option("--port", type=click.IntRange(0, 65535), default=8399, show_default=True)
def simulate(
    users: int,
    groups: int | None,
    seed: int,
    now: "datetime | None",
    rate: float | None,
    changes: float,
    token: str | None,
    port: int,
) -> None:
    """Serve a made-up tenant on this machine with Okta's protocol, until interrupted."""
    from datetime import UTC, datetime

    from answerable.okta.simulator.populate import simulated_tenant
    from answerable.okta.simulator.server import TOKEN, Simulator, listening, server_of

    try:
        opened = listening(port)
    except OSError as error:
        from answerable.core.errors import OperatorError

        raise OperatorError(
            f"Port {port} cannot be used: {error.strerror}.", code="port_unavailable", hint="Give another --port."
        ) from error
    tenant = simulated_tenant(users, seed, now.replace(tzinfo=UTC) if now else datetime.now(UTC), groups)
    address = f"http://127.0.0.1:{opened.getsockname()[1]}"
    memberships = sum(map(len, tenant.members.values()))
    say(
        f"{users:,} users, {len(tenant.groups):,} groups, {memberships:,} memberships, {len(tenant.apps)} applications."
    )
    say(f"Okta is simulated on {address} (Ctrl-C stops it).")
    if token is None:
        say(f"To sync it: OKTA_API_TOKEN={TOKEN} answerable okta sync simulated {address}")
    import asyncio
    import sys

    sys.stdout.flush()
    simulator = Simulator(tenant, token=token or TOKEN, rate=rate)
    with opened:
        asyncio.run(server_of(simulator, changes).serve([opened]))

"""`answerable graph`"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from answerable.cli.graph_input import json_object, json_values, named_version, pairs, text_of
from answerable.cli.graph_schedules import schedule
from answerable.cli.output import json_option, json_or_text, say, tell_json, tell_table, write_whole
from answerable.cli.run_progress import followed, tell_run
from answerable.cli.session import with_service

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from answerable.core.context import Principal
    from answerable.graphs.figures import NodeFigures
    from answerable.graphs.ready_made import ReadyGraph
    from answerable.service import Service
    from answerable.service.graphs import GraphDocument, GraphReport, GraphRun, GraphSummary
    from answerable.store.base import RunRecord


@click.group("graph")
def command() -> None:
    """Check, store and run graphs that are written as YAML or JSON files."""


command.add_command(schedule)


@command.command("schema")
def schema() -> None:
    """Print the JSON Schema of the format, for editors."""

    async def read(service: "Service", principal: "Principal") -> object:
        return service.graphs.schema(principal)

    tell_json(with_service(read, empty_store=True))


@command.command("validate")
@click.argument("file", type=click.Path(path_type=Path))
@json_option
def validate(file: Path, as_json: bool) -> None:
    """Check the graph in FILE without running it. A mistake is named with its line and column."""
    text = text_of(file)

    async def check(service: "Service", principal: "Principal") -> "GraphReport":
        return await service.graphs.validate(text, principal, origin=file.name)

    report = with_service(check, empty_store=True)
    if as_json:
        tell_json({"valid": True, **report.model_dump(mode="json")})
        return
    say(f"{report.name}: {len(report.nodes)} nodes, no mistakes.")
    tell_table([(node.id, node.kind, ", ".join(node.after)) for node in report.nodes])


@command.command("run")
@click.argument("graph")
@click.option("--input", "-i", "fields", multiple=True, metavar="KEY=VALUE", help="A field of the input.")
@click.option("--input-file", type=click.Path(path_type=Path), help="A JSON file with the input.")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write the output to this file.")
@json_option
def run(graph: str, fields: tuple[str, ...], input_file: Path | None, output: Path | None, as_json: bool) -> None:
    """Run GRAPH and wait for it: a file, the name of a stored graph, or NAME@VERSION.

    Exit codes: 0 done, 1 failed, 2 wrong graph or input, 3 waits for a person, 4 refused.
    """
    written, is_file = pairs(fields), _is_file(graph)

    async def carry_out(service: "Service", principal: "Principal") -> "GraphRun":
        values = json_object(input_file) if input_file is not None else {}
        text = text_of(Path(graph)) if is_file else await _stored(service, principal, graph)
        values |= service.graphs.input_of(text, written, principal, origin=graph)
        if is_file:
            started = await service.graphs.begin(text, values, principal, origin=graph)
        else:
            name, version = named_version(graph)
            started = await service.graphs.begin_stored(name, values, principal, version=version)
        return await followed(service, principal, started, quiet=as_json)

    found = with_service(carry_out)
    if output is not None and found.status in ("done", "partial"):
        from answerable.engine.steps.graph_answer import output_text

        write_whole(output, [output_text(found.output).encode()])
    sys.exit(tell_run(found, as_json, written=output))


@command.command("new")
@click.argument("name")
@click.option("--from", "template", required=True, help="A ready-made graph; see `answerable graph list`.")
@click.option("--source", help="What it reads instead of its example data.")
@json_option
def new(name: str, template: str, source: str | None, as_json: bool) -> None:
    """Store a ready-made graph under NAME, to run it or to change it."""
    saved = with_service(
        lambda service, principal: service.graphs.new(name, principal, template=template, source=source)
    )
    if as_json:
        tell_json(saved.model_dump(mode="json"))
    else:
        say(f"{name}: version {saved.version.version}. Change it: answerable graph export {name} -o {name}.graph.yaml")


@command.command("fork")
@click.argument("run")
@click.argument("node", required=False)
@click.option("--output", "-o", "outputs", multiple=True, metavar="NODE=JSON", help="Go on with this output of a node.")
@click.option("--input", "-i", "fields", multiple=True, metavar="KEY=JSON", help="Another field of the input.")
@json_option
def fork(run: str, node: str | None, outputs: tuple[str, ...], fields: tuple[str, ...], as_json: bool) -> None:
    """Run the graph of RUN once more from NODE on, as a run of its own, and wait for it.

    What ended before NODE is taken over and not done again. Without NODE it begins with what failed or never ran.
    """
    from answerable.core.ids import RunId

    edited, values = json_values(outputs), json_values(fields)

    async def carry_out(service: "Service", principal: "Principal") -> "GraphRun":
        started = await service.graphs.fork(RunId(run), principal, node=node, outputs=edited, input=values)
        return await followed(service, principal, started, quiet=as_json)

    sys.exit(tell_run(with_service(carry_out), as_json))


@command.command("signal")
@click.argument("event")
@click.option("--data", metavar="JSON", help="What the nodes that wait for it get.")
@json_option
def signal(event: str, data: str | None, as_json: bool) -> None:
    """Tell the runs that wait for EVENT that it has happened, and wait for them."""

    async def reach(service: "Service", principal: "Principal") -> "Sequence[GraphRun]":
        runs = await service.graphs.signal(event, None if data is None else json_or_text(data), principal)
        return [await service.graphs.wait(run, principal) for run in runs]

    reached = with_service(reach)
    if as_json:
        tell_json({"runs": [each.model_dump(mode="json") for each in reached]})
        return
    for each in reached:
        say(f"{each.run_id}: {each.status}")
    if not reached:
        say("No run waits for it.")


@command.command("save")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--note", default="", help="What is new; it is recorded.")
@click.option("--tag", "tags", multiple=True, help="Replaces the tags of the graph.")
@json_option
def save(file: Path, note: str, tags: tuple[str, ...], as_json: bool) -> None:
    """Store the graph in FILE under its name, as a new version."""
    text = text_of(file)
    saved = with_service(
        lambda service, principal: service.graphs.save(text, principal, note=note, tags=tags or None, origin=file.name)
    )
    if as_json:
        tell_json(saved.model_dump(mode="json"))
    else:
        say(f"{saved.graph.name}: version {saved.version.version}")


@command.command("list")
@click.option("--tag", help="Only graphs with this tag.")
@json_option
def list_graphs(tag: str | None, as_json: bool) -> None:
    """Stored graphs, and the ready-made ones that `graph new` begins with."""

    async def look(service: "Service", principal: "Principal") -> "tuple[Sequence[GraphSummary], Sequence[ReadyGraph]]":
        return await service.graphs.list(principal, tag=tag), service.graphs.ready_made(principal)

    found, ready = with_service(look)
    if as_json:
        templates = [each.model_dump(mode="json", exclude={"text"}) for each in ready]
        tell_json({"graphs": [each.model_dump(mode="json") for each in found], "templates": templates})
        return
    if found:
        tell_table([(each.name, f"version {each.version}", each.owner, ", ".join(each.tags)) for each in found])
    if tag is None:
        say("Templates, for `answerable graph new NAME --from TEMPLATE`:")
        tell_table([(each.name, "model" if each.needs_model else "", each.description) for each in ready])


@command.command("show")
@click.argument("graph")
@json_option
def show(graph: str, as_json: bool) -> None:
    """A stored graph: NAME or NAME@VERSION, with its last runs and the figures of its nodes."""
    name, version = named_version(graph)

    async def look(
        service: "Service", principal: "Principal"
    ) -> "tuple[GraphDocument, Sequence[RunRecord], Mapping[str, NodeFigures]]":
        document = await service.graphs.show(name, principal, version=version)
        runs = await service.graphs.runs(name, principal, limit=10)
        return document, runs, await service.graphs.figures(name, principal)

    document, runs, figures = with_service(look)
    if as_json:
        listed = [
            {
                "run_id": each.run,
                "status": each.status,
                "created_at": each.created_at,
                "version": each.graph_version,
            }
            for each in runs
        ]
        nodes = {id: each.model_dump(mode="json") for id, each in figures.items()}
        tell_json({**document.model_dump(mode="json"), "runs": listed, "figures": nodes})
        return
    say(f"{document.graph.name}, version {document.version.version} by {document.version.user}")
    say(document.text)
    for each in runs:
        ran = "not stored" if each.graph_version is None else f"version {each.graph_version}"
        say(f"{each.run}  {each.created_at:%Y-%m-%d %H:%M}  {each.status}  {ran}")
    for id, node in figures.items():
        say(f"{id}: {node.runs} runs, {node.failures} failed, p50 {node.p50_ms} ms, p95 {node.p95_ms} ms")


@command.command("versions")
@click.argument("name")
@json_option
def versions(name: str, as_json: bool) -> None:
    """Who saved which version of NAME, newest first."""
    found = with_service(lambda service, principal: service.graphs.versions(name, principal))
    if as_json:
        tell_json({"versions": [each.model_dump(mode="json") for each in found]})
    else:
        tell_table([(each.version, f"{each.at:%Y-%m-%d %H:%M}", each.user, each.note) for each in found])


@command.command("diff")
@click.argument("name")
@click.argument("before", type=int, required=False)
@click.argument("after", type=int, required=False)
@json_option
def diff(name: str, before: int | None, after: int | None, as_json: bool) -> None:
    """What is different in version AFTER of NAME. Exit code 0 when nothing is, else 1."""
    found = with_service(lambda service, principal: service.graphs.diff(name, principal, before=before, after=after))
    if as_json:
        tell_json(found.model_dump(mode="json"))
    else:
        say(found.text or "No difference.", nl=not found.text)
    sys.exit(1 if found.text else 0)


@command.command("rollback")
@click.argument("name")
@click.argument("version", type=int)
@json_option
def rollback(name: str, version: int, as_json: bool) -> None:
    """Make VERSION of NAME count again, as a new version."""
    saved = with_service(lambda service, principal: service.graphs.rollback(name, version, principal))
    if as_json:
        tell_json(saved.model_dump(mode="json"))
    else:
        say(f"{name}: version {saved.version.version}")


@command.command("export")
@click.argument("graph")
@click.option("--output", "-o", type=click.Path(dir_okay=False, path_type=Path), help="Write it to this file.")
def export(graph: str, output: Path | None) -> None:
    """The text of a stored graph (NAME or NAME@VERSION), as it was saved to the byte."""
    name, version = named_version(graph)
    document = with_service(lambda service, principal: service.graphs.show(name, principal, version=version))
    if output is not None:
        write_whole(output, [document.text.encode()])
    else:
        sys.stdout.buffer.write(document.text.encode())
        sys.stdout.buffer.flush()


@command.command("delete")
@click.argument("name")
@json_option
def delete(name: str, as_json: bool) -> None:
    """Remove NAME with all its versions. Its runs stay."""
    with_service(lambda service, principal: service.graphs.delete(name, principal))
    if as_json:
        tell_json({"deleted": name})
    else:
        say(f"{name} is deleted.")


def _is_file(graph: str) -> bool:
    return graph.endswith((".yaml", ".yml", ".json")) or Path(graph).is_file()


async def _stored(service: "Service", principal: "Principal", graph: str) -> str:
    name, version = named_version(graph)
    return (await service.graphs.show(name, principal, version=version)).text

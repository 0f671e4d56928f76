"""`answerable threads`"""

from typing import TYPE_CHECKING

import click

from answerable.cli.output import json_option, say, tell_json, tell_table
from answerable.cli.session import with_service

if TYPE_CHECKING:
    from collections.abc import Sequence

    from answerable.core.context import Principal
    from answerable.core.ids import ThreadId
    from answerable.service import Service
    from answerable.service.threads import MessageView, ThreadSummary


@click.group("threads")
def command() -> None:
    """List, read, rename, pin, share, fork and delete conversations."""


@command.command("list")
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True)
@json_option
def list_threads(limit: int, as_json: bool) -> None:
    """Threads, pinned ones first, then by their last message."""
    _tell_threads(with_service(lambda service, principal: service.threads.list(principal, limit=limit)), as_json)


@command.command("search")
@click.argument("text")
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True)
@json_option
def search(text: str, limit: int, as_json: bool) -> None:
    """Threads whose title or messages hold TEXT."""
    found = with_service(lambda service, principal: service.threads.list(principal, limit=limit, search=text))
    _tell_threads(found, as_json)


@command.command("show")
@click.argument("thread")
@click.option("--last", type=click.IntRange(1, 1_000), help="Only this many of the newest messages.")
@json_option
def show(thread: str, last: int | None, as_json: bool) -> None:
    """The messages of THREAD in order of time; with --json their answers too."""

    async def read(service: "Service", principal: "Principal") -> "tuple[ThreadSummary, Sequence[MessageView]]":
        summary = await service.threads.get(_id(thread), principal)
        return summary, await service.threads.messages(_id(thread), principal, last=last, answers=as_json)

    summary, messages = with_service(read)
    if as_json:
        listed = [message.model_dump(mode="json") for message in messages]
        tell_json({"thread": summary.model_dump(mode="json"), "messages": listed})
        return
    say(summary.title)
    for message in messages:
        say(f"\n{message.role} ({message.message_id}): {message.content}")


@command.command("rename")
@click.argument("thread")
@click.argument("title")
@json_option
def rename(thread: str, title: str, as_json: bool) -> None:
    """Give THREAD another TITLE."""
    _tell(with_service(lambda service, principal: service.threads.change(_id(thread), principal, title=title)), as_json)


@command.command("pin")
@click.argument("thread")
@click.option("--off", is_flag=True, help="Unpin it instead.")
@json_option
def pin(thread: str, off: bool, as_json: bool) -> None:
    """List THREAD before all that are not pinned."""
    _tell(
        with_service(lambda service, principal: service.threads.change(_id(thread), principal, pinned=not off)),
        as_json,
    )


@command.command("delete")
@click.argument("thread")
@json_option
def delete(thread: str, as_json: bool) -> None:
    """Delete THREAD. It can be restored for thirty days; its runs stay in the record of runs."""
    with_service(lambda service, principal: service.threads.delete(_id(thread), principal))
    if as_json:
        tell_json({"deleted": thread})
    else:
        say(f"{thread} deleted; `answerable threads restore {thread}` undoes that for thirty days.")


@command.command("restore")
@click.argument("thread")
@json_option
def restore(thread: str, as_json: bool) -> None:
    """Undo the deletion of THREAD."""
    _tell(with_service(lambda service, principal: service.threads.restore(_id(thread), principal)), as_json)


@command.command("share")
@click.argument("thread")
@click.option("--off", is_flag=True, help="End the sharing instead: the link leads nowhere from then on.")
@json_option
def share(thread: str, off: bool, as_json: bool) -> None:
    """Let others read THREAD by a link that cannot be guessed, on the page of the server."""

    async def change(service: "Service", principal: "Principal") -> "ThreadSummary":
        verb = service.threads.unshare if off else service.threads.share
        return await verb(_id(thread), principal)

    summary = with_service(change)
    if as_json:
        tell_json(summary.model_dump(mode="json"))
    else:
        say(summary.share_path or f"{thread} is not shared any more.")


@command.command("fork")
@click.argument("thread")
@click.argument("message")
@click.option("--before", is_flag=True, help="Take only what came before the message, to ask it differently.")
@json_option
def fork(thread: str, message: str, before: bool, as_json: bool) -> None:
    """Make a new thread that begins like THREAD, up to MESSAGE (`threads show` prints the ids)."""
    from answerable.core.ids import MessageId

    fork_summary = with_service(
        lambda service, principal: service.threads.fork(_id(thread), MessageId(message), principal, include=not before)
    )
    _tell(fork_summary, as_json)


def _id(thread: str) -> "ThreadId":
    from answerable.core.ids import ThreadId

    return ThreadId(thread)


def _tell(summary: "ThreadSummary", as_json: bool) -> None:
    if as_json:
        tell_json(summary.model_dump(mode="json"))
    else:
        tell_table([_line(summary)])


def _tell_threads(found: "Sequence[ThreadSummary]", as_json: bool) -> None:
    if as_json:
        tell_json({"threads": [summary.model_dump(mode="json") for summary in found]})
    else:
        tell_table([_line(summary) for summary in found])


def _line(summary: "ThreadSummary") -> tuple[object, ...]:
    mark = "pinned" if summary.pinned else ""
    return summary.thread_id, f"{summary.updated_at:%Y-%m-%d %H:%M}", mark, summary.excerpt or summary.title

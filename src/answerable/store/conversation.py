"""What makes up a thread, whichever database keeps it."""

from dataclasses import replace

from answerable.core.context import Principal
from answerable.core.errors import NotFoundError
from answerable.core.ids import MessageId, ThreadId, new_message_id, new_thread_id
from answerable.store.base import Threads

LONGEST_TITLE = 80


def title_of(question: str) -> str:
    """A line that a thread can be found by: its first question, cut between words."""
    words = " ".join(question.split())
    if len(words) <= LONGEST_TITLE:
        return words
    cut = words[:LONGEST_TITLE]
    return (cut.rpartition(" ")[0] or cut).rstrip(",;:–-") + " …"


async def fork(
    threads: Threads,
    principal: Principal,
    thread: ThreadId,
    message: MessageId,
    *,
    include: bool,
    new: ThreadId | None = None,
) -> ThreadId:
    """A new thread that begins like another one: up to a message, or up to just before it. `new`: the id to give it."""
    origin = await threads.get(principal, thread)
    messages = await threads.messages(principal, thread)
    place = next((number for number, each in enumerate(messages) if each.message == message), None)
    if place is None:
        raise NotFoundError(f"The thread {thread} has no message {message}.", code="message_not_found")
    new = new or new_thread_id()
    copies = [replace(each, message=new_message_id(), thread=new) for each in messages[: place + include]]
    await threads.ensure(principal, new, title=origin.title, messages=copies)
    return new

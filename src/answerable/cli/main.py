"""The commands and where they live."""

import atexit
import gc
import os
import sys
import threading
from importlib import import_module

import click

COMMANDS = {
    "access": ("answerable.cli.access", "Check and explain the rules about who may see what."),
    "agents": ("answerable.cli.agents", "List agents, and try them with their cases."),
    "ask": ("answerable.cli.ask", "Ask a question in plain words of files or a database."),
    "demo": ("answerable.cli.demo", "Answer sample questions on bundled data, then serve the page."),
    "doctor": ("answerable.cli.doctor", "Show what this machine offers and where generated code can run."),
    "eval": ("answerable.cli.evaluate", "Measure how many questions are answered right; keep golden cases."),
    "graph": ("answerable.cli.graph", "Check and run graphs of steps and agents."),
    "identity": ("answerable.cli.identity", "Try identity providers at which people sign in, or simulate one."),
    "keys": ("answerable.cli.keys", "Make, rotate and revoke keys with which programs ask as somebody."),
    "login": ("answerable.cli.login", "Sign in, and get a token for programs that lasts as long as it is used."),
    "models": ("answerable.cli.models", "Try the language models that are set."),
    "names": ("answerable.cli.names", "Show and change what tables and columns are called and mean."),
    "okta": ("answerable.cli.okta", "Sync an Okta tenant, or simulate one."),
    "replay": ("answerable.cli.replay", "Run a recorded answer again and compare the rows."),
    "runs": ("answerable.cli.runs", "List, show, compare, cancel and continue recorded runs."),
    "sandbox": ("answerable.cli.sandbox", "Run Python where it can do no harm."),
    "serve": ("answerable.cli.serve", "Serve the HTTP API and the page."),
    "settings": ("answerable.cli.settings", "Show how Answerable is set up, and what was spent."),
    "sources": ("answerable.cli.sources", "Add and remove sources, show what they hold."),
    "threads": ("answerable.cli.threads", "List, read, rename, share, fork and delete conversations."),
    "worker": ("answerable.cli.worker", "Carry out runs that servers leave to workers."),
    "users": ("answerable.cli.users", "Let people sign in, change their roles, keep them out."),
}

_GARBAGE_EVERY = 300_000
"""Objects between two looks for garbage: more than a command loads, which is no garbage. A server sets its own."""


class LazyGroup(click.Group):
    """Lists commands from the table above and imports one only to run it or to show its own help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        gc.set_threshold(_GARBAGE_EVERY)
        command: click.Command = import_module(COMMANDS[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, sentence) for name, (_, sentence) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="answerable")
def cli() -> None:
    """Ask your data in plain words and get answers that can be held to account.

    Exit codes: 0 done, 1 failed, 2 wrong usage, 3 needs clarification, 4 refused by policy.
    """


def main() -> None:
    # Pydantic would read the metadata of every installed package to find plugins, and no command needs one.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from answerable.core.errors import AnswerableError

    try:
        cli()
    except AnswerableError as error:
        from answerable.cli.output import tell_error

        # The options of the command are out of reach here, so the raw arguments are searched.
        sys.exit(tell_error(error, as_json="--json" in sys.argv))
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output is gone; there is nobody to tell
        sys.exit(1)


def main_and_leave() -> None:
    """`main`, after which the process is gone at once: Python would first take apart everything that is loaded."""
    try:
        main()
    except SystemExit as ended:
        at_work = [thread for thread in threading.enumerate() if not thread.daemon]
        if not isinstance(ended.code, int | None) or len(at_work) > 1:
            gc.freeze()  # Python would look through everything for garbage, several times
            raise  # a text to print, or work beside this thread: the usual end
        atexit._run_exitfuncs()  # what was to be done at the end, for example removing temporary folders
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError):  # nobody reads any more, or it was closed for that reason
            raise ended from None
        os._exit(ended.code or 0)

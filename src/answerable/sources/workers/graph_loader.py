"""Writes a graph from files, in a worker that may read these files and write to one folder, and nothing else."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ladybug
import ladybug._lbug  # else loaded with the first database, when the walls are up and its libraries out of reach

from answerable.sources.workers import failures
from answerable.sources.workers.failures import Failure
from answerable.sources.workers.graph_engine import literal, quoted
from answerable.sources.workers.harden import Needs

_MB = 1 << 20
_PLACE = re.compile(r"^Error in file .* on line (\d+): (.*)$", re.DOTALL)
_DUPLICATE = re.compile(r"Found duplicated primary key value (.*), which violates")
_NO_NODE = re.compile(r"Unable to find primary key value (.*)\.$")


class GraphLoader:
    def __init__(self, spec: dict[str, Any]) -> None:
        self._memory_mb: int = spec["memory_mb"]
        self._database = ladybug.Database(
            spec["database"],
            buffer_pool_size=spec["memory_mb"] * _MB // 2,
            max_db_size=spec["largest_mb"] * _MB,
            max_num_threads=spec["threads"],
        )
        self._connection = ladybug.Connection(self._database)

    @staticmethod
    def needs(spec: dict[str, Any]) -> Needs:
        return Needs(read=spec["read"], write=[spec["write"]], reserved_mb=spec["largest_mb"] + spec["memory_mb"])

    def answer(self, _do: str, request: dict[str, Any], _output: int | None) -> None:
        """Makes the tables, fills them, and closes the graph: nothing is left in its log."""
        for table in request["tables"]:
            with self._translated(table["place"]):
                self._connection.execute(table["statement"])
        for filling in request["fillings"]:
            with self._translated(filling["shown"], filling["path"]):
                if os.path.getsize(filling["path"]):
                    self._fill(filling)
        self._connection.execute("CHECKPOINT")
        self._connection.close()
        self._database.close()

    def interrupt(self) -> None:
        self._connection.interrupt()

    def _fill(self, filling: dict[str, Any]) -> None:
        columns, options = self._columns(filling)
        try:
            self._copy(filling, columns, options)
        except RuntimeError as error:
            if _PLACE.search(_reason(error)) is None and filling["is_text"]:
                self._find_line(filling, columns, options)
            raise

    def _find_line(self, filling: dict[str, Any], columns: list[str], options: list[str]) -> None:
        """Raises for the first line that cannot be copied. The engine names it only if it may go on behind it; the
        graph is lost anyway."""
        self._copy(filling, columns, [*options, "IGNORE_ERRORS=true"])
        first = "CALL show_warnings() RETURN message, line_number ORDER BY line_number LIMIT 1"
        for message, line in self._result(first).get_all():
            raise _failure(filling["shown"], message, line)

    def _copy(self, filling: dict[str, Any], columns: list[str], options: list[str]) -> None:
        listed = f" ({', '.join(map(quoted, columns))})" if columns else ""
        bracket = f" ({', '.join(options)})" if options else ""
        self._connection.execute(f"COPY {quoted(filling['table'])}{listed} FROM {literal(filling['path'])}{bracket}")

    def _columns(self, filling: dict[str, Any]) -> tuple[list[str], list[str]]:
        """The columns as the file has them, and the options. The engine goes by order alone; here, names that all
        belong to the table count, so that a file may have them in another order."""
        options, is_text = list(filling["reading"]), filling["is_text"]
        if not filling["columns"] and filling["header"] is not False:
            headed = [*options, "HEADER=true"] if is_text and filling["header"] is None else options
            bracket = f" ({', '.join(headed)})" if headed else ""
            found = self._result(f"LOAD FROM {literal(filling['path'])}{bracket} RETURN * LIMIT 0")
            if (columns := _named(found.get_column_names(), filling)) is not None:
                return columns, [*headed, *filling["ends"]]
        return filling["columns"], [*options, *filling["ends"]]

    def _result(self, text: str) -> Any:
        return self._connection.execute(text)

    @contextmanager
    def _translated(self, shown: str, path: str = "") -> Iterator[None]:
        """`path`: what the engine calls the file that people know as `shown`."""
        try:
            yield
        except UnicodeDecodeError as error:  # the engine quotes a line in its message
            raise _failure(shown, "it is not text in UTF-8.", None) from error
        except RuntimeError as error:
            message = str(error)
            if "Buffer manager exception" in message or "bad_alloc" in message:
                raise failures.too_much_memory(self._memory_mb) from error
            raise _failure(shown, _reason(error).replace(path or shown, shown), None) from error
        except MemoryError as error:
            raise failures.too_much_memory(self._memory_mb) from error


def _named(heads: list[str], filling: dict[str, Any]) -> list[str] | None:
    """The columns of the table that the first line names, or None if it is no line of names."""
    folded = [head.casefold() for head in heads]
    ends, heads_of_columns = folded[: filling["leading"]], folded[filling["leading"] :]
    known = {name.casefold(): name for name in filling["known"]}
    if not all(head in known for head in heads_of_columns) or len(set(heads_of_columns)) < len(heads_of_columns):
        return None
    return [known[head] for head in heads_of_columns] if heads_of_columns or ends == ["from", "to"] else None


def _reason(error: RuntimeError) -> str:
    return re.sub(r"^\w+ exception: ", "", str(error))


def _failure(shown: str, message: str, line: int | None) -> Failure:
    if placed := _PLACE.search(message):
        line, message = int(placed[1]), placed[2]
    where = shown if line is None else f"{shown}, line {line}"
    if found := _DUPLICATE.search(message):
        return Failure("FileError", "graph_key_duplicated", f"{where}: the key {found[1]!r} is there twice.")
    if found := _NO_NODE.search(message):
        return Failure(
            "FileError",
            "graph_node_missing",
            f"{where}: the relationship needs a node with the key {found[1]!r}, and there is none.",
            "Add the node to the file of its table, or take the line out.",
        )
    plain = re.sub(r"^\w+ exception: ", "", message).split(" Line/record containing")[0].split("\n")[0]
    return Failure("FileError", "file_malformed", f"{where}: {plain}")

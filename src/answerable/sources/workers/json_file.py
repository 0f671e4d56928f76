"""JSON: an array of records, one record a line, or an object that wraps the records. Nested objects become columns."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb

from answerable.sources.workers.csv_file import ReadTable
from answerable.sources.workers.engine import quoted, unique_names
from answerable.sources.workers.failures import Failure
from answerable.sources.workers.typing_columns import literal
from answerable.sources.workers.widths import check_width

_LARGEST_OBJECT = 512 * 1024 * 1024
_DEFAULT_OBJECT = 16 * 1024 * 1024
_WIDEST_STRUCT = 40
"""An object with more keys than this is not a set of columns."""
_NESTED = ("list", "struct", "map", "array", "union")


def read_json(cursor: Any, path: Path) -> ReadTable:
    check_width(_keys(cursor, path))
    scan = _scan(cursor, path, depth=3)
    relation = cursor.sql(scan)
    wrapped = _wrapped(cursor, relation, scan)
    notes: tuple[str, ...] = ()
    if wrapped is not None:
        check_width(_fields(relation.types[relation.columns.index(wrapped)]))
        scan = f"SELECT unnest({quoted(wrapped)}, max_depth := 2) FROM ({_scan(cursor, path, depth=4)})"
        relation = cursor.sql(scan)
        notes = (f"the records are those under {wrapped!r}",)
    items = [item for name, kind in zip(relation.columns, relation.types, strict=True) for item in _items(name, kind)]
    if not items or (relation.columns == ["json"] and not cursor.execute(f"{scan} LIMIT 1").fetchall()):
        raise Failure("FileError", "file_empty", "The file holds no records.")
    check_width(len(items))
    names = unique_names([name for name, _expression in items])
    selected = ", ".join(f"{items[place][1]} AS {quoted(name)}" for place, name in enumerate(names))
    return ReadTable(f"SELECT {selected} FROM ({scan})", notes)


def _keys(cursor: Any, path: Path) -> int:
    """How many keys the records have in all. DuckDB only splits the text for it; it makes no columns."""
    for limit in _object_sizes(path):
        records = f"read_json_objects({literal(str(path))}, format = 'auto', maximum_object_size = {limit})"
        counting = f"SELECT count(DISTINCT key) FROM (SELECT unnest(json_keys(json)) AS key FROM {records})"
        try:
            return int(cursor.execute(counting).fetchone()[0])
        except duckdb.Error as error:
            if "maximum_object_size" not in str(error):
                break
    return 0  # it cannot be read at all: the scan says why


def _object_sizes(path: Path) -> Iterator[int]:
    """DuckDB sizes its buffers by this limit, so the large one is used only if an object needs it."""
    yield _DEFAULT_OBJECT
    size = min(path.stat().st_size + 1, _LARGEST_OBJECT)
    if size > _DEFAULT_OBJECT:
        yield size


def _scan(cursor: Any, path: Path, depth: int) -> str:
    options = f"sample_size = -1, maximum_depth = {depth}, map_inference_threshold = -1, maximum_object_size = "
    limits = list(_object_sizes(path))
    for limit in limits:
        scan = f"SELECT * FROM read_json({literal(str(path))}, {options}{limit})"
        try:
            cursor.sql(scan)
        except duckdb.Error as error:
            if "maximum_object_size" not in str(error) or limit == limits[-1]:
                raise
        else:
            break
    return scan


def _wrapped(cursor: Any, relation: Any, scan: str) -> str | None:
    """The name of the only list of objects, if all of the file is one object around it."""
    lists = [name for name, kind in zip(relation.columns, relation.types, strict=True) if kind.id == "list"]
    if len(lists) != 1 or cursor.execute(f"SELECT count(*) FROM (SELECT 1 FROM ({scan}) LIMIT 2)").fetchone() != (1,):
        return None
    [are_objects] = cursor.execute(
        f"SELECT len(l) > 0 AND list_bool_and([json_type(to_json(x)) = 'OBJECT' FOR x IN l])"
        f" FROM (SELECT {quoted(lists[0])} AS l FROM ({scan}))"
    ).fetchone()
    return lists[0] if are_objects else None


def _fields(records: Any) -> int:
    """How many keys the objects of a list have."""
    [(_name, record)] = records.children
    return len(record.children) if record.id == "struct" else 1


def _items(name: str, kind: Any) -> Iterator[tuple[str, str]]:
    """The columns that one field becomes: an object one for each key, a list its JSON text."""
    shown = "value" if name == "json" else name
    if kind.id == "struct" and len(kind.children) <= _WIDEST_STRUCT:
        for key, inner in kind.children:
            yield f"{shown}_{key}", _plain(f"{quoted(name)}.{quoted(key)}", inner)
    else:
        yield shown, _plain(quoted(name), kind)


def _plain(expression: str, kind: Any) -> str:
    return f"to_json({expression})" if kind.id in _NESTED else expression

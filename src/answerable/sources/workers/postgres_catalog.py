"""What PostgreSQL's own catalog says about tables, keys and changes."""

from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import sql

# Without partitions: their rows are read through the table that they are parts of.
_RELATIONS = """
    SELECT c.oid, n.nspname, c.relname, c.relkind IN ('v', 'm'), c.relkind IN ('v', 'f'),
           obj_description(c.oid, 'pg_class')
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
      AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_%'
      AND has_table_privilege(c.oid, 'SELECT')
    ORDER BY n.nspname, c.relname
"""
# A column of a domain counts as one of the type that the domain is based on.
_COLUMNS = """
    SELECT a.attrelid, a.attname, coalesce(nullif(t.typbasetype, 0), a.atttypid)::bigint, a.atttypmod, a.attnotnull,
           col_description(a.attrelid, a.attnum)
    FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
    WHERE a.attrelid = ANY(%s) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attrelid, a.attnum
"""
_CONSTRAINTS = """
    SELECT k.conrelid, k.contype, k.confrelid,
           (SELECT array_agg(a.attname::text ORDER BY n.i) FROM unnest(k.conkey) WITH ORDINALITY n(num, i)
            JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = n.num),
           (SELECT array_agg(a.attname::text ORDER BY n.i) FROM unnest(k.confkey) WITH ORDINALITY n(num, i)
            JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = n.num)
    FROM pg_constraint k WHERE k.conrelid = ANY(%s) AND k.contype IN ('p', 'u', 'f') ORDER BY k.conrelid, k.conname
"""
_CHANGES = """
    SELECT n.nspname, c.relname, c.oid::bigint, c.relfilenode::bigint, c.relnatts, c.xmin::text,
           s.n_tup_ins, s.n_tup_upd, s.n_tup_del
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
      AND n.nspname NOT LIKE 'pg\\_%' ORDER BY n.nspname, c.relname
"""

TypeName = Callable[[int, int], str]


def inspected(cursor: Any, main: str | None, type_name: TypeName) -> dict[str, Any]:
    tables = {
        number: {
            "name": table_name(schema, name, main),
            "address": [schema, name],
            "is_view": is_view,
            "can_break": can_break,
            "columns": [],
            "primary_key": [],
            "description": description,
        }
        for number, schema, name, is_view, can_break, description in cursor.execute(_RELATIONS).fetchall()
    }
    left_out = []
    for number in [number for number, table in tables.items() if table.pop("can_break")]:
        if reason := _why_not(cursor, tables[number]["address"]):
            left_out.append((tables.pop(number)["name"], reason))
    numbers = list(tables)
    for number, name, kind, modifier, not_null, description in cursor.execute(_COLUMNS, [numbers]).fetchall():
        tables[number]["columns"].append(
            {
                "name": name,
                "type": type_name(kind, modifier),
                "nullable": not not_null,
                "unique": False,
                "description": description,
            }
        )
    relationships = []
    for number, kind, target, columns, to_columns in cursor.execute(_CONSTRAINTS, [numbers]).fetchall():
        if kind == "f":
            relationships += _relationship(tables, number, target, columns, to_columns)
        else:
            _note_key(tables[number], kind, columns)
    return {
        "tables": [table for table in tables.values() if table["columns"]],
        "relationships": relationships,
        "left_out": left_out,
    }


def _why_not(cursor: Any, address: list[str]) -> str | None:
    """The server's reason if it cannot plan a query of a view or a foreign table: it may use what its owner may not
    read, or what is gone."""
    try:
        with cursor.connection.transaction():
            cursor.execute(sql.SQL("EXPLAIN SELECT * FROM {}").format(sql.Identifier(*address)))
    except (psycopg.errors.QueryCanceled, psycopg.errors.LockNotAvailable):
        raise
    except psycopg.Error as error:
        if not error.sqlstate:
            raise  # the connection, not the view
        return str(error.diag.message_primary or error).strip()
    return None


def table_name(schema: str, name: str, main: str | None) -> str:
    return name if schema == main else f"{schema}.{name}"


def _relationship(
    tables: dict[int, dict[str, Any]], number: int, target: int, columns: list[str], to_columns: list[str]
) -> list[dict[str, Any]]:
    if target not in tables:
        return []
    ends = {"from_table": tables[number]["name"], "to_table": tables[target]["name"]}
    return [{**ends, "from_columns": columns, "to_columns": to_columns}]


def _note_key(table: dict[str, Any], kind: str, columns: list[str]) -> None:
    if kind == "p":
        table["primary_key"] = columns
    for column in table["columns"]:
        column["unique"] = column["unique"] or columns == [column["name"]]


def fingerprinted(cursor: Any, main: str | None) -> dict[str, Any]:
    """The fingerprint from the counters that the server keeps of every change. Its own figures lag by up to a
    second."""
    return {
        "tables": {
            table_name(schema, name, main): "|".join(map(str, figures))
            for schema, name, *figures in cursor.execute(_CHANGES).fetchall()
        }
    }

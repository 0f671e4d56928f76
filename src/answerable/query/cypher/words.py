"""Which words of Cypher may be used, and which are refused by name.

What is not listed as allowed is refused: a new version of the engine may bring functions that nobody here has seen.
"""


def words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


REFUSED_CLAUSES = words(
    "ALTER ANALYZE ATTACH BEGIN CALL CHECKPOINT COMMENT COMMIT COPY CREATE DELETE DETACH DROP EXPLAIN EXPORT EXTENSION",
    "FOREACH FORCE FROM GRANT IMPORT INSERT INSTALL LOAD MACRO MERGE PROFILE PROJECT REMOVE RENAME REVOKE ROLLBACK SET",
    "UNINSTALL UPDATE USE",
)
"""Clauses that write, load, call or change the session. They get a sentence of their own."""

RESERVED = words(
    "ALL AND ANY AS ASC ASCENDING BY CASE CAST CONTAINS COUNT DESC DESCENDING DISTINCT ELSE END ENDS EXISTS FALSE IN",
    "IS LIMIT MATCH NONE NOT NULL OPTIONAL OR ORDER RETURN SHORTEST SINGLE SKIP STARTS THEN TRUE UNION UNWIND WHEN",
    "WHERE WITH XOR GROUP ACYCLIC TRAIL TABLE NODE REL COLUMN PRIMARY KEY DEFAULT GLOB HEADERS LOGICAL READ",
    "TRANSACTION TYPE DATABASE RECURSIVE",
)
"""Names that are written between backticks, because the parser of the engine may take them for something else."""

AGGREGATES = frozenset({"avg", "collect", "count", "max", "min", "percentilecont", "percentiledisc", "sum"})

FUNCTIONS = AGGREGATES | words(
    # numbers
    "abs ceil ceiling floor round sign sqrt cbrt ln log log2 log10 pow pi sin cos tan cot asin acos atan atan2 degrees",
    "radians even greatest least",
    # text
    "lower upper tolower toupper lcase ucase trim ltrim rtrim left right substr substring concat concat_ws replace",
    "reverse initcap size contains starts_with ends_with prefix suffix split_part string_split str_split",
    "levenshtein regexp_matches regexp_full_match regexp_extract regexp_replace",
    # dates and times
    "date timestamp interval duration date_part datepart date_trunc datetrunc dayname monthname last_day make_date",
    "century to_epoch_ms epoch_ms current_date current_timestamp to_days to_hours to_minutes to_seconds to_months",
    "to_years",
    # types
    "string to_string to_int64 to_double to_bool to_date to_timestamp coalesce ifnull typeof",
    # lists
    "list_contains list_has list_has_all list_has_any list_distinct list_unique list_sort list_reverse_sort",
    "list_reverse list_sum list_product list_min list_max list_extract list_element list_slice list_concat list_append",
    "list_prepend list_position list_any_value list_to_string array_contains cardinality count_if",
    # graphs
    "label labels nodes rels relationships length properties is_trail is_acyclic list_transform list_filter",
)
"""Functions that compute from their arguments alone. Left out: those that write or keep state (nextval, setseed), whose
result differs each time (random, uuid), that make much out of little (range, repeat, lpad, factorial), or that show
internals (id, offset, hash)."""

TAKES_LAMBDA = frozenset({"list_transform", "list_filter"})
SYNONYMS = {"relationships": "rels", "labels": "label", "tolower": "lower", "toupper": "upper"}

TYPES = frozenset(
    {"STRING", "INT64", "INT32", "INT16", "INT8", "DOUBLE", "FLOAT", "BOOL", "BOOLEAN", "DATE", "TIMESTAMP", "INTERVAL"}
)
"""What CAST can lead to."""

"""What syntax written SQL may hold, listed by construction: whatever is not named here is refused.

A node of the syntax tree must be of a listed type and may set only the listed arguments, so a new kind of node or a new
clause that a later parser learns stays outside until someone adds it here. Which functions may be called is decided by
what they are, see `function_classes.py`.
"""

from collections.abc import Mapping

from sqlglot import exp


def _nodes(entries: Mapping[type[exp.Expr], str]) -> Mapping[type[exp.Expr], frozenset[str]]:
    return {kind: frozenset(arguments.split()) for kind, arguments in entries.items()}


NODES: Mapping[type[exp.Expr], frozenset[str]] = _nodes(
    {
        exp.Select: "with_ expressions distinct from_ joins where group having qualify windows order limit offset"
        " sample",
        exp.Union: "with_ this expression distinct order limit offset by_name",
        exp.Intersect: "with_ this expression distinct order limit offset",
        exp.Except: "with_ this expression distinct order limit offset",
        exp.Subquery: "this alias order limit offset pivots sample with_",
        exp.With: "expressions recursive",
        exp.CTE: "this alias materialized",
        exp.From: "this",
        exp.Join: "this on using side kind method",
        exp.Table: "this db alias pivots sample ordinality",
        exp.TableAlias: "this columns",
        exp.Values: "expressions alias order limit offset",
        exp.Where: "this",
        exp.Group: "expressions grouping_sets cube rollup all",
        exp.GroupingSets: "expressions",
        exp.Cube: "expressions",
        exp.Rollup: "expressions",
        exp.Having: "this",
        exp.Qualify: "this",
        exp.Order: "this expressions",
        exp.Ordered: "this desc nulls_first",
        exp.Limit: "expression limit_options",
        exp.Fetch: "direction count limit_options",
        exp.LimitOptions: "rows with_ties percent",
        exp.Offset: "expression",
        exp.Distinct: "expressions on",
        exp.Column: "this table db",
        exp.Identifier: "this quoted",
        exp.Star: "except_ replace rename",
        exp.Alias: "this alias",
        exp.Tuple: "expressions",
        exp.Paren: "this",
        exp.Literal: "this is_string",
        exp.Boolean: "this",
        exp.Null: "",
        exp.Interval: "this unit",
        exp.IntervalSpan: "this expression",
        exp.Var: "this",
        exp.DataType: "this expressions nested values",
        exp.DataTypeParam: "this",
        exp.Window: "this partition_by order spec alias over",
        exp.WindowSpec: "kind start start_side end end_side exclude",
        exp.Filter: "this expression",
        exp.Lateral: "this alias view outer ordinality",
        exp.TableSample: "this method size percent seed",
        exp.Pivot: "this alias expressions fields unpivot using group columns into include_nulls default_on_null"
        " value_columns_first prefixed_pivot_columns identify_pivot_strings pivot_column_naming",
        exp.PivotAlias: "this alias",
        exp.UnpivotColumns: "this expressions",
        exp.Describe: "this",
        exp.Summarize: "this table",
        exp.Bracket: "this expressions offset safe",
        exp.Slice: "this expression step",
        exp.Dot: "this expression",
        exp.Lambda: "this expressions colon",
        exp.Comprehension: "this expression position iterator condition",
        exp.PropertyEQ: "this expression",
        exp.Kwarg: "this expression",
        exp.ColumnDef: "this kind",
        exp.PositionalColumn: "this",
        exp.HexString: "this",
        exp.Match: "this expression expressions",
        exp.BitwiseLeftShift: "this expression",
        exp.BitwiseRightShift: "this expression",
        exp.Overlaps: "this expression",
        exp.Distance: "this expression",
        exp.WithinGroup: "this expression",
        exp.IgnoreNulls: "this",
        exp.RespectNulls: "this",
        exp.In: "this expressions query",
        exp.Between: "this low high symmetric",
        exp.Like: "this expression negate",
        exp.ILike: "this expression negate",
        exp.SimilarTo: "this expression",
        exp.Glob: "this expression",
        exp.Escape: "this expression",
        exp.Is: "this expression negate",
        exp.Not: "this",
        exp.Neg: "this",
        exp.EQ: "this expression",
        exp.NEQ: "this expression",
        exp.GT: "this expression",
        exp.GTE: "this expression",
        exp.LT: "this expression",
        exp.LTE: "this expression",
        exp.NullSafeEQ: "this expression",
        exp.NullSafeNEQ: "this expression",
        exp.Add: "this expression",
        exp.Sub: "this expression",
        exp.Mul: "this expression",
        exp.Div: "this expression typed safe",
        exp.IntDiv: "this expression",
        exp.Mod: "this expression",
        exp.DPipe: "this expression safe",
        exp.BitwiseAnd: "this expression",
        exp.BitwiseOr: "this expression",
        exp.BitwiseXor: "this expression",
        exp.BitwiseNot: "this",
        exp.Any: "this",
        exp.All: "this",
        exp.AtTimeZone: "this zone",
        exp.JSONPath: "expressions",
        exp.JSONPathRoot: "",
        exp.JSONPathKey: "this",
        exp.JSONPathSubscript: "this",
        exp.JSONKeyValue: "this expression",
        exp.HavingMax: "this expression max",
    }
)

JOINS = frozenset(
    {"", "LEFT", "RIGHT", "FULL", "INNER", "OUTER", "CROSS", "NATURAL", "SEMI", "ANTI", "ASOF", "POSITIONAL"}
)
"""Words before JOIN."""

SAMPLING = frozenset({"system", "bernoulli", "reservoir"})
"""Methods of TABLESAMPLE. PostgreSQL takes any other name for a function that somebody may have created."""

TABLE_FUNCTIONS: frozenset[type[exp.Expr]] = frozenset(
    {exp.Unnest, exp.Explode, exp.GenerateSeries, exp.ExplodingGenerateSeries, exp.Values, exp.Table}
)
"""Types of the parser for functions that may stand in FROM."""

SIZED: frozenset[type[exp.Expr]] = frozenset({exp.Repeat, exp.Pad})
"""Functions whose result is as long as one of their arguments says."""

MAX_SIZE = 1_000

TYPES: frozenset[exp.DType] = frozenset(
    {
        exp.DType.BIGDECIMAL,
        exp.DType.BIGINT,
        exp.DType.BOOLEAN,
        exp.DType.CHAR,
        exp.DType.DATE,
        exp.DType.DATETIME,
        exp.DType.DECIMAL,
        exp.DType.DOUBLE,
        exp.DType.FLOAT,
        exp.DType.INT,
        exp.DType.INT128,
        exp.DType.INTERVAL,
        exp.DType.JSON,
        exp.DType.JSONB,
        exp.DType.SMALLINT,
        exp.DType.TEXT,
        exp.DType.TIME,
        exp.DType.TIMESTAMP,
        exp.DType.TIMESTAMPNTZ,
        exp.DType.TIMESTAMPTZ,
        exp.DType.TINYINT,
        exp.DType.UBIGINT,
        exp.DType.UINT,
        exp.DType.ARRAY,
        exp.DType.LIST,
        exp.DType.STRUCT,
        exp.DType.MAP,
        exp.DType.ENUM,
        exp.DType.UNION,
        exp.DType.BIT,
        exp.DType.BLOB,
        exp.DType.VARBINARY,
        exp.DType.UINT128,
        exp.DType.UTINYINT,
        exp.DType.USMALLINT,
        exp.DType.TIMESTAMP_S,
        exp.DType.TIMESTAMP_MS,
        exp.DType.TIMESTAMP_NS,
        exp.DType.TIMETZ,
        exp.DType.MONEY,
        exp.DType.INET,
        exp.DType.XML,
        exp.DType.INT4RANGE,
        exp.DType.INT8RANGE,
        exp.DType.NUMRANGE,
        exp.DType.DATERANGE,
        exp.DType.TSRANGE,
        exp.DType.TSTZRANGE,
        exp.DType.NVARCHAR,
        exp.DType.UUID,
        exp.DType.VARCHAR,
    }
)
"""What may be cast to. PostgreSQL's `regclass` and its like, which look names up in system catalogs, are not here."""

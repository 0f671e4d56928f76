"""What written SQL may hold, listed by construction: whatever is not named here is refused.

A node of the syntax tree must be of a listed type and may set only the listed arguments, so a new kind of node or a new
clause that a later parser learns stays outside until someone adds it here. Functions are listed apart: those that the
parser has a type for, and per dialect those that it knows only by name. None reads files, settings, system catalogs,
the environment or the network, waits, or draws random numbers (a replayed answer must come out the same).
"""

from collections.abc import Mapping

from sqlglot import exp

from answerable.core.values import Dialect


def _nodes(entries: Mapping[type[exp.Expr], str]) -> Mapping[type[exp.Expr], frozenset[str]]:
    return {kind: frozenset(arguments.split()) for kind, arguments in entries.items()}


NODES: Mapping[type[exp.Expr], frozenset[str]] = _nodes(
    {
        exp.Select: "with_ expressions distinct from_ joins where group having qualify windows order limit offset",
        exp.Union: "with_ this expression distinct order limit offset",
        exp.Intersect: "with_ this expression distinct order limit offset",
        exp.Except: "with_ this expression distinct order limit offset",
        exp.Subquery: "this alias order limit offset",
        exp.With: "expressions recursive",
        exp.CTE: "this alias materialized",
        exp.From: "this",
        exp.Join: "this on using side kind method",
        exp.Table: "this db alias",
        exp.TableAlias: "this columns",
        exp.Values: "expressions alias",
        exp.Where: "this",
        exp.Group: "expressions grouping_sets cube rollup all",
        exp.GroupingSets: "expressions",
        exp.Cube: "expressions",
        exp.Rollup: "expressions",
        exp.Having: "this",
        exp.Qualify: "this",
        exp.Order: "this expressions",
        exp.Ordered: "this desc nulls_first",
        exp.Limit: "expression",
        exp.Fetch: "direction count limit_options",
        exp.LimitOptions: "rows",
        exp.Offset: "expression",
        exp.Distinct: "expressions on",
        exp.Column: "this table db",
        exp.Identifier: "this quoted",
        exp.Star: "except_ replace",
        exp.Alias: "this alias",
        exp.Tuple: "expressions",
        exp.Paren: "this",
        exp.Literal: "this is_string",
        exp.Boolean: "this",
        exp.Null: "",
        exp.Interval: "this unit",
        exp.IntervalSpan: "this expression",
        exp.Var: "this",
        exp.DataType: "this expressions nested",
        exp.DataTypeParam: "this",
        exp.Window: "this partition_by order spec alias over",
        exp.WindowSpec: "kind start start_side end end_side",
        exp.Filter: "this expression",
        exp.WithinGroup: "this expression",
        exp.IgnoreNulls: "this",
        exp.RespectNulls: "this",
        exp.In: "this expressions query",
        exp.Between: "this low high",
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
        exp.HavingMax: "this expression max",
    }
)

FUNCTIONS: frozenset[type[exp.Expr]] = frozenset(
    {
        # Logic and conversion.
        exp.And,
        exp.Or,
        exp.Case,
        exp.If,
        exp.Coalesce,
        exp.Nullif,
        exp.Exists,
        exp.Cast,
        exp.TryCast,
        exp.Collate,
        exp.Greatest,
        exp.Least,
        # Aggregates.
        exp.AnyValue,
        exp.ApproxDistinct,
        exp.ApproxQuantile,
        exp.ArgMax,
        exp.ArgMin,
        exp.Avg,
        exp.Corr,
        exp.Count,
        exp.CountIf,
        exp.CovarPop,
        exp.CovarSamp,
        exp.First,
        exp.GroupConcat,
        exp.Grouping,
        exp.Kurtosis,
        exp.Last,
        exp.LogicalAnd,
        exp.LogicalOr,
        exp.Max,
        exp.Median,
        exp.Min,
        exp.Mode,
        exp.PercentileCont,
        exp.PercentileDisc,
        exp.Quantile,
        exp.RegrCount,
        exp.RegrIntercept,
        exp.RegrR2,
        exp.RegrSlope,
        exp.Skewness,
        exp.Stddev,
        exp.StddevPop,
        exp.StddevSamp,
        exp.Sum,
        exp.Variance,
        exp.VariancePop,
        # Windows.
        exp.CumeDist,
        exp.DenseRank,
        exp.FirstValue,
        exp.Lag,
        exp.LastValue,
        exp.Lead,
        exp.NthValue,
        exp.Ntile,
        exp.PercentRank,
        exp.Rank,
        exp.RowNumber,
        # Numbers.
        exp.Abs,
        exp.Cbrt,
        exp.Ceil,
        exp.Degrees,
        exp.Exp,
        exp.Floor,
        exp.IsInf,
        exp.IsNan,
        exp.Ln,
        exp.Log,
        exp.Pi,
        exp.Pow,
        exp.Radians,
        exp.Round,
        exp.Sign,
        exp.Sqrt,
        exp.Trunc,
        exp.WidthBucket,
        # Text. Repeat and Pad only with a small literal size, see SIZED.
        exp.Ascii,
        exp.Chr,
        exp.Concat,
        exp.ConcatWs,
        exp.Contains,
        exp.EndsWith,
        exp.Initcap,
        exp.JarowinklerSimilarity,
        exp.Left,
        exp.Length,
        exp.Levenshtein,
        exp.Lower,
        exp.Pad,
        exp.RegexpCount,
        exp.RegexpExtract,
        exp.RegexpFullMatch,
        exp.RegexpILike,
        exp.RegexpLike,
        exp.RegexpReplace,
        exp.Repeat,
        exp.Replace,
        exp.Reverse,
        exp.Right,
        exp.SplitPart,
        exp.StartsWith,
        exp.StrPosition,
        exp.Substring,
        exp.ToChar,
        exp.Translate,
        exp.Trim,
        exp.Unicode,
        exp.Upper,
        # Points in time.
        exp.AddMonths,
        exp.CurrentDate,
        exp.CurrentTime,
        exp.CurrentTimestamp,
        exp.Date,
        exp.DateAdd,
        exp.DateBin,
        exp.DateDiff,
        exp.DateFromParts,
        exp.DateSub,
        exp.DateTrunc,
        exp.Datetime,
        exp.DatetimeAdd,
        exp.DatetimeDiff,
        exp.DatetimeSub,
        exp.DatetimeTrunc,
        exp.Day,
        exp.DayOfMonth,
        exp.DayOfWeek,
        exp.DayOfWeekIso,
        exp.DayOfYear,
        exp.Dayname,
        exp.Extract,
        exp.Hour,
        exp.JustifyDays,
        exp.JustifyHours,
        exp.JustifyInterval,
        exp.LastDay,
        exp.Localtime,
        exp.Localtimestamp,
        exp.MakeInterval,
        exp.Minute,
        exp.Month,
        exp.Monthname,
        exp.Quarter,
        exp.Second,
        exp.StrToDate,
        exp.StrToTime,
        exp.Time,
        exp.TimeToStr,
        exp.TimeToUnix,
        exp.Timestamp,
        exp.TimestampAdd,
        exp.TimestampDiff,
        exp.TimestampFromParts,
        exp.TimestampSub,
        exp.TimestampTrunc,
        exp.TsOrDsAdd,
        exp.TsOrDsDiff,
        exp.TsOrDsToDate,
        exp.TsOrDsToTime,
        exp.TsOrDsToTimestamp,
        exp.UnixToTime,
        exp.Week,
        exp.WeekOfYear,
        exp.Year,
        # JSON.
        exp.JSONBExtract,
        exp.JSONBExtractScalar,
        exp.JSONExtract,
        exp.JSONExtractScalar,
    }
)

_COMMON_NAMES = "ifnull ltrim rtrim btrim date_part epoch power mod ceiling variance var_samp regr_avgx regr_avgy"

NAMES: Mapping[Dialect, frozenset[str]] = {
    "duckdb": frozenset(
        f"""
        {_COMMON_NAMES}
        age century damerau_levenshtein datepart decade entropy epoch_ms era fdiv fmod favg fsum isfinite isodow isoyear
        jaccard jaro_similarity mad millennium nextafter prefix product quantile_cont
        quantile_disc regexp_matches round_even sem strip_accents strlen suffix sum_no_overflow time_bucket timezone
        to_days to_hours to_minutes to_months to_seconds to_weeks to_years try_strptime weekday weekofyear yearweek
        """.split()
    ),
    "postgres": frozenset(
        f"""
        {_COMMON_NAMES}
        age cardinality div every isfinite json_array_length json_typeof jsonb_array_length jsonb_typeof make_timestamp
        num_nonnulls num_nulls octet_length scale to_number trim_scale unaccent
        """.split()
    ),
    "sqlite": frozenset(
        f"""
        {_COMMON_NAMES}
        date datetime iif julianday json_array_length json_type strftime time timediff total typeof unixepoch
        """.split()
    ),
}
"""Functions that the parser has no type for, by name in lower case."""

SIZED: frozenset[type[exp.Expr]] = frozenset({exp.Repeat, exp.Pad})
"""Functions that make text as long as they are told."""

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
        exp.DType.UUID,
        exp.DType.VARCHAR,
    }
)
"""What may be cast to. PostgreSQL's `regclass` and its like, which look names up in system catalogs, are not here."""

"""Programs are looked at before they run: what cannot work is named, and nothing that works is."""

from datetime import date

import polars as pl
import pytest

from answerable.sandbox.type_check import type_errors

FRAMES = {"orders": ("id", "customer_id", "amount", "day", "note"), "customers": ("id", "name", "city")}


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("result = ordrs.height", "There is no `ordrs`; did you mean `orders`? (line 1)."),
        ("x = 1\nresult = zzz", "There is no `zzz`; there are `orders`, `customers`, `pl` (line 2)."),
        ('result = orders.groupby("day").len()', "`DataFrame` has no `groupby`; near it there is `group_by`"),
        ('result = orders.melt("id")', "use `DataFrame.unpivot` instead"),
        ('import polars as p\nresult = orders.select(p.col("note").str.strip())', "has no `strip`; near it"),
        ('from polars import (\n    col,\n)\nresult = orders.select(col("id").summ())', "`Expr` has no `summ`"),
        ("import polars\nresult = polars.read_cvs()", "`polars` has no `read_cvs`; near it there is `read_csv`"),
        ('result = orders.sort("amount", reverse=True)', "it takes `by`, `more_by`, `descending`"),
        ('result = orders.lazy().filter(pl.col("id") == 1).colect()', "`LazyFrame` has no `colect`"),
        ('result = orders.with_columns(pl.when(pl.col("id") > 1).then(1).els(2))', "`Then` has no `els`"),
        ("def late(frame: pl.DataFrame):\n    return frame.with_column()\nresult = late(orders)", "`with_columns`"),
        ("def late(frame, days):\n    return frame\nresult = late(orders)", "`days`"),
        ("import math\nresult = math.sqroot(2)", "`math` has no `sqroot`; near it there is `sqrt`"),
        ("names = [1, 2]\nnames.push(3)\nresult = names", "`list` has no `push`"),
        ('result = orders["amont"].sum()', "`orders` has no column 'amont'; did you mean 'amount'?"),
        (
            'result = orders.filter(pl.col("city") == "Rome")',
            "`orders` has no column 'city'; it has 'id', 'customer_id'",
        ),
        ('result = orders.group_by("month").agg(pl.col("amount").sum())', "`orders` has no column 'month'"),
        ('result = orders.with_columns((pl.col("amount") / pl.col("n")).alias("n"))', "has no column 'n'"),
    ],
)
def test_what_cannot_work_is_named_with_what_there_is(code: str, said: str) -> None:
    [found] = type_errors(code, FRAMES)
    assert said in found
    assert found.endswith(f"(line {next(i for i in range(1, 6) if f'(line {i})' in found)}).")


RIGHT = [
    'result = orders.join(customers, left_on="customer_id", right_on="id").group_by("city").agg(pl.sum("amount"))',
    "from __future__ import annotations\nfrom math import *\nresult = [sqrt(n) for n in orders['id']]",
    """
import datetime as dt
import statistics
from collections import Counter, defaultdict

import polars as pl

late = orders.with_columns(pl.col("day").dt.month().alias("month"), total=pl.col("amount").cum_sum())
by_month = late.group_by("month", maintain_order=True).agg(pl.len(), most=pl.col("amount").max())
counts = Counter(row["note"] for row in orders.iter_rows(named=True))
sums = defaultdict(float)
for customer, amount in zip(orders["customer_id"], orders["amount"].to_list()):
    sums[customer] += amount
since = dt.date(2024, 1, 1) - dt.timedelta(days=30)
mean = statistics.fmean(sums.values())
result = by_month.with_columns(pl.lit(mean).alias("mean"), pl.lit(since).alias("since")).sort("len", descending=True)
""",
    """
columns = [name for name in orders.columns if name != "id"]
share = orders["share"] if "share" in orders.columns else orders["amount"]
result = pl.DataFrame({"column": columns, "total": [float(share.sum())] * len(columns)})
""",
    """
try:
    result = orders["no_such"].sum()
except Exception:
    result = 0
""",
    """
orders = orders.rename({"amount": "paid"})
wide = orders.pivot("note", index="customer_id", values="paid", aggregate_function="sum")
result = wide.unpivot(index="customer_id").filter(pl.col("variable") != "x").drop_nulls("value")
""",
    """
good = pl.DataFrame({"k": [1, 2]}).filter(pl.col("k") > 1)
result = orders.filter(pl.col("customer_id").is_in(customers.filter(pl.col("city") == "Rome")["id"].to_list()))
result = result.filter(~pl.col("note").str.contains("x") & (-pl.col("amount") < 0) | (1 - pl.col("amount") > 0))
result = orders.select(pl.col("^cust.*$"), pl.all().exclude("customer_id"), pl.col(pl.String).name.suffix("2"))
result = orders.select(abs(pl.col("amount")), sum([pl.col("id"), pl.col("amount")]).alias("both"))
""",
    """
def rate(frame: pl.DataFrame, by: str) -> pl.DataFrame:
    return frame.group_by(by).agg((pl.col("amount") > 10).mean().alias("rate"))

frames = {name: rate(orders, name) for name in ("note", "customer_id")}
result = frames["note"].lazy().sort("rate").collect().to_dicts()
""",
    """
totals = orders.group_by("customer_id").agg(pl.col("amount").sum().alias("total"))
top = totals.top_k(1, by="total").row(0, named=True)
result = {"data": {"values": totals.to_dicts()}, "mark": "bar", "encoding": {"x": {"field": "customer_id"}}}
""",
    "import json, re\nresult = json.dumps({'n': orders.height, 'm': re.findall('a', 'banana'), 's': 'x'.casefold()})",
    "this is no program",
]


@pytest.mark.parametrize("code", RIGHT[:-1], ids=range(len(RIGHT) - 1))
def test_programs_that_run_have_no_errors(code: str) -> None:
    scope = {
        "pl": pl,
        "orders": pl.DataFrame(
            {
                "id": [1, 2],
                "customer_id": [1, 1],
                "amount": [5.0, 20.0],
                "day": [date(2024, 1, 2)] * 2,
                "note": ["a", "b"],
            }
        ),
        "customers": pl.DataFrame({"id": [1], "name": ["Ana"], "city": ["Rome"]}),
    }
    exec(code, scope)
    assert "result" in scope
    assert type_errors(code, FRAMES) == ()


def test_what_is_no_program_is_left_to_others() -> None:
    assert type_errors(RIGHT[-1], FRAMES) == ()


def test_the_host_s_functions_are_known() -> None:
    assert type_errors('result = api_get("/x")', {}, ["api_get"]) == ()
    assert type_errors('result = api_gte("/x")', {}, ["api_get"]) == (
        "There is no `api_gte`; did you mean `api_get`? (line 1).",
    )


def test_the_program_is_not_run() -> None:
    """A program that never ends is looked at and left."""
    assert type_errors("while True:\n    pass", FRAMES) == ()

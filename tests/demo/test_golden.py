"""The golden answers are right: each was computed a second time, with polars instead of SQL, from the same files."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import polars as pl
import pytest
from polars import col

from answerable import demo
from answerable.demo.golden import opened, refreshed
from answerable.evals.cases import load_cases
from answerable.evals.compare import same_rows

CASES = load_cases("demo")
GROUPS = {case.group: case for case in CASES if case.split == "golden"}
TODAY = date(2025, 12, 31)

Rows = Sequence[Sequence[Any]]


class Company:
    """The tables, and the joins that most questions need."""

    def __init__(self) -> None:
        self.customers, self.employees, self.items, self.orders, self.products, self.stores, self.tickets = (
            pl.read_parquet(demo.location() / f"{name}.parquet")
            for name in ("customers", "employees", "order_items", "orders", "products", "stores", "support_tickets")
        )
        self.sales = (
            self.items.join(self.orders, on="order_id")
            .join(self.stores, on="store_id", suffix="_of_store")
            .join(self.products.rename({"name": "product"}), on="product_id")
            .join(self.customers.rename({"name": "customer"}), on="customer_id", suffix="_of_customer")
        )


@pytest.fixture(scope="module")
def company() -> Company:
    return Company()


def year(number: int, column: str = "order_date") -> pl.Expr:
    return col(column).dt.year() == number


def months(number: int, first: int, last: int) -> pl.Expr:
    return year(number) & col("order_date").dt.month().is_between(first, last)


def revenue(where: pl.Expr) -> pl.Expr:
    return col("amount").filter(where).sum()


def growth(now: pl.Expr, before: pl.Expr) -> pl.Expr:
    return (revenue(now) / revenue(before) - 1) * 100


def counted(frame: pl.DataFrame) -> Rows:
    return [(len(frame),)]


def buyers(company: Company, product: str) -> set[int]:
    return set(company.sales.filter(col("product") == product)["customer_id"])


def customers(company: Company, ids: set[int]) -> Rows:
    return company.customers.filter(col("customer_id").is_in(list(ids))).select("name").rows()


def ordering_in(company: Company, number: int) -> set[int]:
    return set(company.orders.filter(year(number))["customer_id"])


def per_region_2024(company: Company) -> Rows:
    places = company.orders.filter(year(2024)).join(company.stores, on="store_id")
    return places.group_by("region").len().rows()


def busy_customers(company: Company) -> Rows:
    numbers = Counter(company.orders["customer_id"])
    names = dict(company.customers.select("customer_id", "name").iter_rows())
    return [(names[customer],) for customer, number in numbers.items() if number > 50]


def earning_more(company: Company) -> Rows:
    pay = {row["employee_id"]: row["salary"] for row in company.employees.iter_rows(named=True)}
    return [
        (row["name"],)
        for row in company.employees.iter_rows(named=True)
        if row["manager_id"] is not None and row["salary"] > pay[row["manager_id"]]
    ]


def top(frame: pl.DataFrame, key: str, name: str, number: int) -> Rows:
    totals = frame.group_by(key, name).agg(col("amount").sum()).sort("amount", descending=True)
    return totals.head(number).select(name, "amount").rows()


CHECKS: dict[str, Callable[[Company], Rows]] = {
    "orders_2025": lambda c: counted(c.orders.filter(year(2025))),
    "orders_2024_follow_up": lambda c: counted(c.orders.filter(year(2024))),
    "orders_2024_by_region_follow_up": per_region_2024,
    "returned_last_quarter": lambda c: counted(c.orders.filter(months(2025, 7, 9), col("status") == "Returned")),
    "open_tickets": lambda c: [(c.tickets["resolved_at"].null_count(),)],
    "customer_cities": lambda c: [(len(set(c.customers["city"])),)],
    "customers_never_ordered": lambda c: [(len(set(c.customers["customer_id"]) - set(c.orders["customer_id"])),)],
    "products_never_sold": lambda c: c.products.join(c.items, on="product_id", how="anti").select("name").rows(),
    "stores_south": lambda c: c.stores.filter(col("region") == "South").select("name").rows(),
    "products_100_to_150": lambda c: (
        c.products.filter((col("price") >= 100) & (col("price") <= 150)).select("name").rows()
    ),
    "hired_since_2022": lambda c: c.employees.filter(col("hired").dt.year() >= 2022).select("name").rows(),
    "salary_by_job_title": lambda c: c.employees.group_by("job_title").agg(col("salary").mean()).rows(),
    "revenue_2025": lambda c: [(c.sales.filter(year(2025))["amount"].sum(),)],
    "average_order_value_2025": lambda c: [
        (c.sales.filter(year(2025)).group_by("order_id").agg(col("amount").sum())["amount"].mean(),)
    ],
    "median_salary": lambda c: [(c.employees.filter(col("job_title") == "Sales Assistant")["salary"].median(),)],
    "most_expensive_product": lambda c: c.products.top_k(1, by="price").select("name").rows(),
    "climbing_price_range": lambda c: [
        (min(prices := list(c.products.filter(col("category") == "Climbing")["price"])), max(prices))
    ],
    "revenue_by_region_2025": lambda c: c.sales.filter(year(2025)).group_by("region").agg(col("amount").sum()).rows(),
    "revenue_per_month_2025": lambda c: [
        (date(2025, month, 1), c.sales.filter(months(2025, month, month))["amount"].sum()) for month in range(1, 13)
    ],
    "orders_per_quarter_2024": lambda c: [
        (date(2024, first, 1), len(c.orders.filter(months(2024, first, first + 2)))) for first in (1, 4, 7, 10)
    ],
    "top_5_products": lambda c: top(c.sales, "product_id", "product", 5),
    "top_10_customers_2025": lambda c: top(c.sales.filter(year(2025)), "customer_id", "customer", 10),
    "strongest_region_2025": lambda c: (
        c.sales.filter(year(2025))
        .group_by("region")
        .agg(col("amount").sum())
        .top_k(1, by="amount")
        .select("region")
        .rows()
    ),
    "most_common_topic": lambda c: [(Counter(c.tickets["topic"]).most_common(1)[0][0],)],
    "orders_last_month": lambda c: counted(c.orders.filter(months(2025, 11, 11))),
    "sign_ups_per_year": lambda c: [
        (date(number, 1, 1), len(c.customers.filter(year(number, "signed_up")))) for number in range(2022, 2026)
    ],
    "weekend_orders_2025": lambda c: counted(c.orders.filter(year(2025), col("order_date").dt.weekday() > 5)),
    "days_to_ship": lambda c: [((c.orders["shipped_date"] - c.orders["order_date"]).dt.total_days().mean(),)],
    "online_share_2025": lambda c: [
        (sum(c.orders.filter(year(2025))["channel"] == "Online") * 100 / len(c.orders.filter(year(2025))),)
    ],
    "category_share": lambda c: (
        c.sales.group_by("category").agg(col("amount").sum() * 100 / c.items["amount"].sum()).rows()
    ),
    "growth_by_region": lambda c: c.sales.group_by("region").agg(growth(year(2025), year(2024))).rows(),
    "fastest_region_last_quarter": lambda c: (
        c.sales.group_by("region")
        .agg(growth(months(2025, 7, 9), months(2025, 4, 6)).alias("growth"))
        .top_k(1, by="growth")
        .select("region")
        .rows()
    ),
    "first_halves": lambda c: c.sales.select(
        now=revenue(months(2025, 1, 6)), before=revenue(months(2024, 1, 6))
    ).rows(),
    "return_rate_by_channel": lambda c: (
        c.orders.group_by("channel").agg((col("status") == "Returned").mean() * 100).rows()
    ),
    "customers_over_50_orders": busy_customers,
    "above_average_price": lambda c: c.products.filter(col("price") > col("price").mean()).select("name").rows(),
    "earn_more_than_manager": earning_more,
    "left_in_2025": lambda c: customers(c, ordering_in(c, 2024) - ordering_in(c, 2025)),
    "bought_both": lambda c: customers(c, buyers(c, "Altimeter Watch") & buyers(c, "Tour Skis")),
    "slowest_priorities": lambda c: (
        c.tickets.group_by("priority")
        .agg(col("resolution_hours").mean())
        .sort("resolution_hours", descending=True)
        .rows()
    ),
}


@pytest.mark.parametrize("group", sorted(CHECKS))
def test_the_answer_is_right(group: str, company: Company) -> None:
    case = GROUPS[group]
    assert case.gold_rows is not None
    assert same_rows(CHECKS[group](company), case.gold_rows, case.ordered)


def test_every_golden_question_is_checked() -> None:
    assert set(CHECKS) == set(GROUPS)


def test_the_rows_are_what_the_statements_give() -> None:
    with opened(demo.location()) as connection:
        for line in demo.golden_cases().read_text("utf-8").splitlines():
            now, before = json.loads(refreshed(line, connection)), json.loads(line)
            assert same_rows(now.pop("gold_rows"), before.pop("gold_rows"), before["ordered"])
            assert now == before


def test_forty_questions_in_three_wordings() -> None:
    assert len(GROUPS) == 40
    assert Counter(case.group for case in CASES) == dict.fromkeys(GROUPS, 3)
    assert len({case.question.casefold() for case in CASES}) == 120


def test_paraphrases_share_their_answer() -> None:
    for case in CASES:
        golden = GROUPS[case.group]
        assert (case.gold_rows, case.gold_sql, case.ordered) == (golden.gold_rows, golden.gold_sql, golden.ordered)


def test_answers_are_small_and_not_empty() -> None:
    assert all(case.gold_rows and len(case.gold_rows) <= 200 for case in CASES)


def test_questions_are_asked_on_one_day_of_the_data() -> None:
    assert {case.today for case in CASES} == {TODAY}


def test_follow_ups_continue_the_same_wording() -> None:
    by_id = {case.id: case for case in CASES}
    chains = [(case, by_id[case.after]) for case in CASES if case.after]
    assert len(chains) == 6
    assert all(case.id.partition("-")[2] == before.id.partition("-")[2] for case, before in chains)


def test_no_answer_hangs_on_a_tie() -> None:
    """A sorted answer would be one of several if two of its rows, or its last and the next, had the same sort key."""
    with opened(demo.location()) as connection:
        for case in GROUPS.values():
            body, _, tail = (case.gold_sql or "").partition(" ORDER BY ")
            key, _, limit = tail.partition(" LIMIT ")
            if key:
                wide = body.replace(" FROM ", f", {key.removesuffix(' DESC')} AS sort_key FROM ", 1)
                rows = connection.execute(f"{wide} ORDER BY {key}").fetchall()[: int(limit or 999) + 1]
                assert len({row[-1] for row in rows}) == len(rows), case.id


def test_the_file_has_one_object_a_line_with_the_fields_of_the_contract() -> None:
    for line in demo.golden_cases().read_text("utf-8").splitlines():
        raw = json.loads(line)
        assert {"id", "question", "source", "gold_sql", "gold_rows", "ordered", "today", "group"} <= set(raw)
        assert raw["source"] == "data"

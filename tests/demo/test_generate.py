"""The bundled data is what the generator makes, and it holds what the questions are about."""

import hashlib
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from answerable import demo
from answerable.demo.generate import FIRST_DAY, LAST_DAY, write


def hashes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.parquet"))}


@pytest.fixture(scope="module")
def tables() -> dict[str, pl.DataFrame]:
    return {path.stem: pl.read_parquet(path) for path in demo.location().glob("*.parquet")}


def test_the_bundled_files_are_what_the_generator_writes(tmp_path: Path) -> None:
    write(tmp_path)
    assert hashes(tmp_path) == hashes(demo.location())


def test_another_seed_gives_other_data(tmp_path: Path) -> None:
    write(tmp_path, seed=1)
    assert set(hashes(tmp_path).values()).isdisjoint(hashes(demo.location()).values())


def test_the_command_writes_into_the_named_folder(tmp_path: Path) -> None:
    out = tmp_path / "new"
    done = subprocess.run(
        [sys.executable, "-m", "answerable.demo.generate", str(out)], capture_output=True, text=True, check=True
    )
    assert sorted(done.stdout.split()) == sorted(str(path) for path in out.glob("*.parquet"))
    assert hashes(out) == hashes(demo.location())


def test_the_command_without_a_folder_says_how_it_is_used() -> None:
    done = subprocess.run([sys.executable, "-m", "answerable.demo.generate"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "usage" in done.stderr


def test_it_stays_small() -> None:
    assert sum(path.stat().st_size for path in demo.location().iterdir()) < 3_000_000


@pytest.mark.parametrize(
    ("table", "column", "other", "key"),
    [
        ("orders", "customer_id", "customers", "customer_id"),
        ("orders", "store_id", "stores", "store_id"),
        ("orders", "employee_id", "employees", "employee_id"),
        ("order_items", "order_id", "orders", "order_id"),
        ("order_items", "product_id", "products", "product_id"),
        ("employees", "store_id", "stores", "store_id"),
        ("employees", "manager_id", "employees", "employee_id"),
        ("support_tickets", "customer_id", "customers", "customer_id"),
        ("support_tickets", "order_id", "orders", "order_id"),
        ("support_tickets", "employee_id", "employees", "employee_id"),
    ],
)
def test_references_lead_somewhere(
    tables: dict[str, pl.DataFrame], table: str, column: str, other: str, key: str
) -> None:
    referred = set(tables[table][column].drop_nulls())
    keys = tables[other][key]
    assert keys.n_unique() == len(keys)
    assert referred <= set(keys)
    assert referred


def test_the_company_has_the_traits_that_questions_ask_about(tables: dict[str, pl.DataFrame]) -> None:
    orders, items, customers = tables["orders"], tables["order_items"], tables["customers"]
    assert (orders["order_date"].min(), orders["order_date"].max()) == (FIRST_DAY, LAST_DAY)
    assert set(customers["customer_id"]) - set(orders["customer_id"]), "customers without orders"
    assert set(tables["products"]["product_id"]) - set(items["product_id"]), "products never sold"
    assert customers["name"].n_unique() < len(customers), "people who share a name"
    assert customers["email"].null_count() > 0
    assert any(not name.isascii() for name in customers["name"])
    assert set(orders["status"]) == {"Completed", "Returned", "Cancelled", "Pending"}
    before = set(orders.filter(pl.col("order_date").dt.year() < 2025)["customer_id"])
    assert before - set(orders.filter(pl.col("order_date").dt.year() == 2025)["customer_id"]), "customers who left"


def test_regions_grow_at_different_speeds(tables: dict[str, pl.DataFrame]) -> None:
    sales = tables["orders"].join(tables["order_items"], on="order_id").join(tables["stores"], on="store_id")
    years = (
        sales.group_by("region", pl.col("order_date").dt.year().alias("year"))
        .agg(pl.col("amount").sum())
        .pivot("year", index="region", values="amount")
    )
    growth = {row["region"]: row["2025"] / row["2023"] for row in years.iter_rows(named=True)}
    assert growth["South"] > growth["West"] > growth["East"]
    assert growth["East"] < 1


def test_goods_have_their_season(tables: dict[str, pl.DataFrame]) -> None:
    sales = tables["orders"].join(tables["order_items"], on="order_id").join(tables["products"], on="product_id")
    winter = pl.col("order_date").dt.month().is_in([11, 12, 1, 2])
    share = dict(
        sales.group_by("category")
        .agg((winter.cast(pl.Int32) * pl.col("quantity")).sum() / pl.col("quantity").sum())
        .iter_rows()
    )
    assert share["Winter Sports"] > 0.6 > share["Clothing"] > share["Camping"]


def test_the_package_names_its_data_and_five_questions() -> None:
    assert demo.location().is_dir()
    assert len(demo.SAMPLE_QUESTIONS) == 5

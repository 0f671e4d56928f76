"""Columns are classed by name, pattern and randomness; secrets leave the catalog, and a person can say otherwise."""

import pytest

from answerable.core.catalog import Catalog, Column, Relationship, Table
from answerable.core.values import ColumnType
from answerable.sources import semantic
from answerable.sources.classing import classed_column, classed_table, personal_reason, secret_reason, without_secrets

BCRYPT = "$2b$12$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("password", ()),
        ("password_hash", (BCRYPT,)),
        ("PasswordHash", ()),
        ("user_pwd", ()),
        ("api_key", ()),
        ("apiKey", ()),
        ("stripe_secret", ()),
        ("access_token", ()),
        ("client_secret", ()),
        ("private_key", ()),
        ("otp_secret", ()),
        ("auth", (BCRYPT,)),
        ("value", ("sk-live-9aF3kQ27xT0bLmZ8", "sk-live-7bG2jR18yU1cNnY9")),
        ("setting", ("ghp_16C7e42F292c6912E7710c838347Ae178B4a",)),
        ("note", ("AKIAIOSFODNN7EXAMPLE",)),
        ("session", ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dBjftJeZ4CVP",)),
        ("Kennwort", ()),
        ("mot_de_passe", ()),
        ("target", ("postgres://app:s3cr3t@db.example.com:5432/shop", "none")),
        ("target", ("Server=db;User Id=sa;Password=x9!k;",)),
        ("ref", ("q8Zt3LmN0vXw7RbY2KdP5sHj", "Uf4Gc9TaWe1BnQx6MzVo8iRk")),
    ],
)
def test_secrets(name: str, values: tuple[str, ...]) -> None:
    assert secret_reason(name, values)
    column = classed_column(Column(name=name, type="text", examples=values))
    assert (column.sensitivity, column.examples) == ("secret", ())


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("email", ()),
        ("contact_e_mail", ()),
        ("phone_number", ()),
        ("mobile", ()),
        ("birth_date", ()),
        ("date_of_birth", ()),
        ("ssn", ()),
        ("home_address", ()),
        ("contact", ("ada@example.com", "bo@example.org")),
        ("reach", ("+47 22 12 34 56", "(030) 123-4567")),
        ("number", ("4111 1111 1111 1111", "5500005555555559")),
        ("account", ("DE89370400440532013000",)),
        ("tax", ("123-45-6789", "987-65-4321")),
    ],
)
def test_personal_data(name: str, values: tuple[str, ...]) -> None:
    assert secret_reason(name, values) is None
    assert personal_reason(name, values)


LIVED_IN = ("Theodor-Heuss-Straße 34", "1498 rue Bélanger", "11120 Jasper Ave NW", "Av. Faria Lima, 2170")


@pytest.mark.parametrize(
    ("table", "name", "values", "reason"),
    [
        ("Customer", "Address", LIVED_IN, "its name"),
        ("employees", "address_line_1", (), "its name"),
        ("shop_members", "addr", (), "its name"),
        ("people_2024", "street", (), "its name"),
        ("addresses", "address_content", (), "its name"),
        ("visits", "seen_at", LIVED_IN, "values like street addresses"),
        ("visits", "ip_address", ("10.0.0.1",), "its name"),
        ("shops", "email_address", (), "its name"),
        ("coffee_shop", "Address", LIVED_IN, None),
        ("companies", "street_address", LIVED_IN, None),
        ("Locations", "spot", LIVED_IN, None),
        ("customers", "address_type", ("Billing", "Shipping"), None),
        ("customers", "web_address", ("www.example.com",), None),
        ("devices", "mac_address", ("00:1b:44:11:3a:b7",), None),
        ("film", "title", ("21 Jump Street", "Chicago"), None),
    ],
)
def test_addresses_of_people_and_of_places(table: str, name: str, values: tuple[str, ...], reason: str | None) -> None:
    column = Column(name=name, type="text", examples=values)
    [classed] = classed_table(Table(name=table, columns=(column,))).columns
    assert classed.sensitivity_reason == reason
    assert classed.sensitivity == (reason and "personal")


def test_a_number_of_an_address_is_none() -> None:
    assert classed_column(Column(name="address", type="integer")).sensitivity is None


@pytest.mark.parametrize(
    ("name", "type_", "values"),
    [
        ("token_count", "integer", ()),
        ("password_changed_at", "datetime", ()),
        ("key", "text", ("A1", "B2")),
        ("product_key", "text", ("P-100", "P-200")),
        ("id", "text", ("7f9c24e5-2f4b-4b0e-9d1c-0a8e6f1b2c3d", "1b2c3d4e-5f60-4711-8899-aabbccddeeff")),
        ("date", "text", ("2024-01-31", "2024-02-28")),
        ("period", "text", ("2012/01/01", "31.12.2024")),
        ("city", "text", ("Berlin", "Oslo")),
        ("version", "text", ("1.2.3", "10.4.1")),
        ("amount", "number", ()),
        ("tailnum", "text", ("N10156", "N102UW")),
        ("title", "text", ("Sales Support Agent", "IT Staff")),
        ("slug", "text", ("a-very-long-title-of-a-page-2024", "another-long-title-of-a-page-7")),
        ("emails_sent", "integer", ()),
        ("email_count", "integer", ()),
        ("email_opt_in", "boolean", ()),
        ("phone_model", "text", ("Pixel 9", "IPhone X")),
        ("order_code", "text", ("ORD-2024-17097", "ORD-2025-26910")),
        ("tracking", "text", ("1Z0N63DFAVKP8QO7LO", "1Z0OTR60W4PUXSK2B2")),
        ("site", "text", ("https://example.com:8443/a", "mailto:someone")),
    ],
)
def test_what_is_neither(name: str, type_: ColumnType, values: tuple[str, ...]) -> None:
    assert classed_column(Column(name=name, type=type_, examples=values)).sensitivity is None


USERS = Table(
    name="users",
    columns=(
        Column(name="id", type="integer"),
        Column(name="email", type="text", examples=("ada@example.com",)),
        Column(name="api_key", type="text", unique=True, examples=("sk-live-9aF3kQ27xT0bLmZ8",)),
    ),
    primary_key=("api_key",),
)


def catalog() -> Catalog:
    points = Relationship(
        name="calls.key -> users.api_key",
        from_table="calls",
        from_columns=("key",),
        to_table="users",
        to_columns=("api_key",),
        origin="declared",
    )
    calls = Table(name="calls", columns=(Column(name="key", type="text"),))
    return Catalog(source="app", dialect="duckdb", tables=(classed_table(USERS), calls), relationships=(points,))


def test_secrets_leave_the_catalog_with_what_needs_them() -> None:
    shown = without_secrets(catalog())
    users = shown.table("users")
    assert users is not None
    assert [column.name for column in users.columns] == ["id", "email"]
    assert users.primary_key == ()
    assert shown.relationships == ()
    assert [(each.table, each.column, each.reason) for each in shown.secrets] == [("users", "api_key", "its name")]
    assert "sk-live" not in shown.model_dump_json()


def test_a_person_decides_otherwise() -> None:
    said = "tables: {users: {columns: {api_key: {sensitivity: none}, email: {sensitivity: secret}}}}"
    shown = without_secrets(semantic.apply(catalog(), semantic.parse(said)))
    users = shown.table("users")
    assert users is not None
    assert [column.name for column in users.columns] == ["id", "api_key"]
    assert [each.reason for each in shown.secrets] == ["semantic.yaml"]

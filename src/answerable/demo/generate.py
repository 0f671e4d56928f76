"""Generates the demo data: `python -m answerable.demo.generate OUT`. The same seed always gives the same bytes.

The data is about an outdoor shop with twelve stores in four regions, from January 2023 to December 2025. The regions
grow at different speeds (East shrinks), tents sell in summer and skis in winter, some customers leave, some never buy,
and some products are never sold. Values are missing where they would be missing in reality.

Every function draws from the same random numbers, so the order of the draws matters: a draw more or less in one place
changes all data after it, and with it the golden cases.
"""

import sys
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from itertools import accumulate, count
from math import exp
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from answerable.demo.vocabulary import (
    BRANDS,
    CITIES,
    FIRST_NAMES,
    LAST_NAMES,
    LINES,
    TICKET_TOPICS,
    TOWNS,
    UNSOLD,
    City,
)

SEED = 20230101
FIRST_DAY = date(2023, 1, 1)
LAST_DAY = date(2025, 12, 31)
CUSTOMERS_PER_STORE = 95
_DISCOUNTS = ((0.0, 0.72), (0.05, 0.1), (0.1, 0.1), (0.15, 0.05), (0.2, 0.03))
_WEEKDAY = (0.8, 0.8, 0.9, 0.95, 1.15, 1.5, 0.9)
_MONTH = (0.85, 0.8, 0.9, 0.95, 1.0, 1.1, 1.05, 0.9, 0.9, 0.95, 1.2, 1.5)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Shop:
    store_id: int
    name: str
    city: str
    country: str
    region: str
    opened: date
    floor_area: int
    """In square metres."""


@dataclass(frozen=True, slots=True)
class Employee:
    employee_id: int
    name: str
    job_title: str
    store_id: int | None
    manager_id: int | None
    hired: date
    salary: int


@dataclass(frozen=True, slots=True)
class Product:
    product_id: int
    name: str
    category: str
    brand: str
    price: float
    cost: float
    launched: date


@dataclass(frozen=True, slots=True)
class Customer:
    customer_id: int
    name: str
    email: str | None
    city: str
    country: str
    segment: str
    signed_up: date
    newsletter: bool


@dataclass(frozen=True, slots=True)
class CustomerOrder:
    order_id: int
    customer_id: int
    store_id: int
    employee_id: int | None
    """The seller, or None for an order in the web shop."""
    order_date: date
    channel: str
    status: str
    shipped_date: date | None


@dataclass(frozen=True, slots=True)
class OrderLine:
    order_item_id: int
    order_id: int
    product_id: int
    quantity: int
    unit_price: float
    discount: float
    amount: float


@dataclass(frozen=True, slots=True)
class SupportTicket:
    ticket_id: int
    customer_id: int
    order_id: int | None
    employee_id: int
    opened_at: datetime
    resolved_at: datetime | None
    resolution_hours: float | None
    topic: str
    priority: str
    satisfaction: int | None


@dataclass(frozen=True, slots=True)
class Shopper:
    """A customer, and how the simulation lets them buy."""

    customer: Customer
    home: Shop
    eagerness: float
    """The relative frequency of their orders; 0 for customers who never buy."""
    leaves: date | None


def make_tables(seed: int = SEED) -> Mapping[str, Sequence[Any]]:
    """All tables by name. Each table is a list of rows."""
    random = Random(seed)  # noqa: S311 - invented data, no secrets
    stores = list(_stores(random))
    employees = list(_employees(random, stores))
    products = list(_products(random))
    shoppers = list(_shoppers(random, stores))
    orders: list[CustomerOrder] = []
    items: list[OrderLine] = []
    for order, lines in _sales(random, stores, employees, products, shoppers):
        orders.append(order)
        items.extend(lines)
    return {
        "customers": [shopper.customer for shopper in shoppers],
        "employees": employees,
        "order_items": items,
        "orders": orders,
        "products": products,
        "stores": stores,
        "support_tickets": _tickets(random, employees, orders, shoppers),
    }


def write(folder: Path, seed: int = SEED) -> list[Path]:
    """Writes one Parquet file for each table, and replaces existing files."""
    import polars as pl

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, rows in make_tables(seed).items():
        path = folder / f"{name}.parquet"
        pl.DataFrame([asdict(row) for row in rows], infer_schema_length=None).write_parquet(path)
        written.append(path)
    return written


# People and places.


def _stores(random: Random) -> Iterator[Shop]:
    for number, city in enumerate(CITIES, 1):
        opened = date(random.randrange(2008, 2022), random.randrange(1, 13), random.randrange(1, 29))
        area = random.randrange(18, 95) * 10
        yield Shop(number, f"{city.name} Store", city.name, city.country, city.region, opened, area)


def _employees(random: Random, stores: Sequence[Shop]) -> Iterator[Employee]:
    numbers = count(1)

    def hire(title: str, store: Shop | None, manager: int | None, salary: tuple[int, int]) -> Employee:
        country = store.country if store else "Denmark"
        hired = date(random.randrange(2010, 2025), random.randrange(1, 13), random.randrange(1, 29))
        pay = random.randrange(salary[0] // 100, salary[1] // 100) * 100
        place = store.store_id if store else None
        return Employee(next(numbers), _name(random, country), title, place, manager, hired, pay)

    head = hire("Managing Director", None, None, (128_000, 132_000))
    yield head
    support = hire("Head of Support", None, head.employee_id, (82_000, 86_000))
    yield support
    for _ in range(6):
        yield hire("Support Agent", None, support.employee_id, (34_000, 46_000))
    for store in stores:
        manager = hire("Store Manager", store, head.employee_id, (52_000, 74_000))
        yield manager
        yield hire("Senior Assistant", store, manager.employee_id, (40_000, 64_000))
        for _ in range(random.randrange(3, 6)):
            yield hire("Sales Assistant", store, manager.employee_id, (27_000, 41_000))
    yield hire("Buyer", None, head.employee_id, (58_000, 64_000))


def _shoppers(random: Random, stores: Sequence[Shop]) -> Iterator[Shopper]:
    numbers = count(1)
    for store in stores:
        for _ in range(CUSTOMERS_PER_STORE + random.randrange(-15, 16)):
            yield _shopper(random, store, next(numbers))


def _shopper(random: Random, store: Shop, number: int) -> Shopper:
    name = _name(random, store.country)
    signed_up = date(2022, 1, 1) + timedelta(days=int(1430 * random.random() ** 1.6))
    segment = _pick(random, (("Consumer", 0.76), ("Business", 0.16), ("Club", 0.08)))
    email = None if random.random() < 0.07 else f"{_ascii(name)}{number}@example.com"
    city = _pick(random, tuple(zip(TOWNS[store.country], (0.55, 0.2, 0.15, 0.1), strict=True)))
    customer = Customer(number, name, email, city, store.country, segment, signed_up, random.random() < 0.45)
    eagerness = 0.0 if random.random() < 0.09 else random.lognormvariate(0, 0.9) * (2.2 if segment == "Club" else 1)
    stays = timedelta(days=random.randrange(120, 900))
    return Shopper(customer, store, eagerness, signed_up + stays if random.random() < 0.22 else None)


def _products(random: Random) -> Iterator[Product]:
    numbers = count(1)
    goods = [(name, line.category, price) for line in LINES for name, price in line.goods]
    for name, category, price in [*goods, *UNSOLD]:
        new = random.random() < 0.18
        year = random.randrange(2023, 2026) if new else random.randrange(2016, 2023)
        launched = date(year, random.randrange(1, 13), 1)
        cost = round(price * random.uniform(0.42, 0.72), 2)
        yield Product(next(numbers), name, category, random.choice(BRANDS), price, cost, launched)


def _name(random: Random, country: str) -> str:
    return f"{random.choice(FIRST_NAMES[country])} {random.choice(LAST_NAMES[country])}"


def _ascii(name: str) -> str:
    """The ASCII letters of a name, as people use them in mail addresses."""
    return "".join(char for char in name.lower() if char.isascii() and char.isalpha())


# Sales.


def _sales(
    random: Random,
    stores: Sequence[Shop],
    employees: Sequence[Employee],
    products: Sequence[Product],
    shoppers: Sequence[Shopper],
) -> Iterator[tuple[CustomerOrder, list[OrderLine]]]:
    order_numbers, item_numbers = count(1), count(1)
    sellers = {s.store_id: [e for e in employees if e.store_id == s.store_id] for s in stores}
    regulars = {s.store_id: [x for x in shoppers if x.home == s and x.eagerness] for s in stores}
    shelf = _Shelf(random, products)
    for day in _days():
        for store, city in zip(stores, CITIES, strict=True):
            for _ in range(_poisson(random, _demand(city, day))):
                shopper = _visitor(random, regulars[store.store_id], day)
                if shopper is None:
                    continue
                number = next(order_numbers)
                lines = [
                    _line(random, next(item_numbers), number, product, shopper.customer, day)
                    for product in shelf.basket(day)
                ]
                yield _order(random, number, shopper.customer, store, sellers[store.store_id], day), lines


def _days() -> Iterator[date]:
    return (FIRST_DAY + timedelta(days=offset) for offset in range((LAST_DAY - FIRST_DAY).days + 1))


def _demand(city: City, day: date) -> float:
    years = (day - FIRST_DAY).days / 365.25
    return city.orders_per_day * float(city.yearly_growth**years) * _MONTH[day.month - 1] * _WEEKDAY[day.weekday()]


def _visitor(random: Random, regulars: Sequence[Shopper], day: date) -> Shopper | None:
    active = [x for x in regulars if x.customer.signed_up <= day and (x.leaves is None or day < x.leaves)]
    return random.choices(active, [x.eagerness for x in active])[0] if active else None


class _Shelf:
    """The products for sale, and how well each sells."""

    def __init__(self, random: Random, products: Sequence[Product]) -> None:
        unsold = {name for name, _, _ in UNSOLD}
        seasons = {line.category: line.season for line in LINES}
        self.random = random
        self.goods = [
            (product, random.lognormvariate(0, 0.7) * (1 + 20 / product.price), seasons[product.category])
            for product in products
            if product.name not in unsold
        ]
        self.month: tuple[date, list[Product], list[float]] | None = None

    def basket(self, day: date) -> list[Product]:
        # Weights change once a month, so they are computed once a month: there are some hundred baskets in between.
        first = day.replace(day=1)
        if self.month is None or self.month[0] != first:
            offered = [(p, w * season[day.month - 1]) for p, w, season in self.goods if p.launched <= first]
            self.month = (first, [p for p, _ in offered], list(accumulate(w for _, w in offered)))
        _, products, weights = self.month
        size = _pick(self.random, ((1, 0.38), (2, 0.28), (3, 0.18), (4, 0.1), (5, 0.06)))
        picks = [bisect(weights, self.random.random() * weights[-1]) for _ in range(size)]
        return [products[index] for index in dict.fromkeys(picks)]


def _line(random: Random, number: int, order: int, product: Product, customer: Customer, day: date) -> OrderLine:
    most = 2 if product.price > 150 else 4
    quantity = 1 if random.random() < 0.7 else random.randrange(1, most + 1)
    discount = _pick(random, _DISCOUNTS)
    if customer.segment != "Consumer":
        discount = max(discount, 0.1)
    price = round(product.price * 1.03 ** (day.year - FIRST_DAY.year), 2)
    return OrderLine(
        number, order, product.product_id, quantity, price, discount, round(quantity * price * (1 - discount), 2)
    )


def _order(
    random: Random, number: int, customer: Customer, store: Shop, sellers: Sequence[Employee], day: date
) -> CustomerOrder:
    online = 0.3 + 0.08 * (day.year - FIRST_DAY.year)
    channel = _pick(random, (("Online", online), ("Store", 0.93 - online), ("Phone", 0.07)))
    status = _pick(random, (("Completed", 0.895), ("Returned", 0.065), ("Cancelled", 0.04)))
    # Orders of the last days are still on their way when the data ends.
    if (LAST_DAY - day).days < 10 and channel != "Store" and status == "Completed":
        status = "Pending"
    sent = channel != "Store" and status in ("Completed", "Returned")
    shipped = day + timedelta(days=min(random.randrange(1, 8), random.randrange(1, 8))) if sent else None
    seller = None if channel == "Online" else random.choice(sellers).employee_id
    return CustomerOrder(number, customer.customer_id, store.store_id, seller, day, channel, status, shipped)


# Support.


def _tickets(
    random: Random, employees: Sequence[Employee], orders: Iterable[CustomerOrder], shoppers: Sequence[Shopper]
) -> list[SupportTicket]:
    agents = [e.employee_id for e in employees if e.job_title == "Support Agent"]
    drafts = list(_complaints(random, orders)) + list(_account_questions(random, shoppers))
    drafts.sort(key=lambda draft: draft[0])
    weights = [1.6, 1.3, 1.0, 1.0, 0.8, 0.5]
    return [
        _ticket(random, number, opened, customer, order, topic, random.choices(agents, weights)[0])
        for number, (opened, customer, order, topic) in enumerate(drafts, 1)
    ]


_Draft = tuple[datetime, int, int | None, str]


def _complaints(random: Random, orders: Iterable[CustomerOrder]) -> Iterator[_Draft]:
    for order in orders:
        returned = order.status == "Returned"
        if random.random() > (0.45 if returned else 0.13):
            continue
        opened = _moment(random, order.order_date + timedelta(days=random.randrange(1, 21)))
        if opened.date() <= LAST_DAY:
            topic = "Returns" if returned and random.random() < 0.7 else _pick(random, TICKET_TOPICS)
            yield opened, order.customer_id, order.order_id, topic


def _account_questions(random: Random, shoppers: Sequence[Shopper]) -> Iterator[_Draft]:
    for day in _days():
        for _ in range(_poisson(random, 0.22)):
            known = [x.customer for x in shoppers if x.customer.signed_up <= day]
            yield _moment(random, day), random.choice(known).customer_id, None, "Account"


def _ticket(
    random: Random, number: int, opened: datetime, customer: int, order: int | None, topic: str, agent: int
) -> SupportTicket:
    priority = _pick(random, (("Low", 0.28), ("Normal", 0.47), ("High", 0.19), ("Urgent", 0.06)))
    hours = {"Low": 60.0, "Normal": 30.0, "High": 14.0, "Urgent": 5.0}[priority]
    if topic == "Damaged goods":
        hours *= 1.7
    resolved = opened + timedelta(minutes=round(60 * hours * random.lognormvariate(0, 0.7)))
    open_still = resolved.date() > LAST_DAY or random.random() < 0.015
    satisfaction = None
    if not open_still and random.random() < 0.58:
        late = (resolved - opened) > timedelta(hours=1.5 * hours)
        weights = (0.2, 0.22, 0.26, 0.2, 0.12) if late else (0.03, 0.06, 0.16, 0.35, 0.4)
        satisfaction = random.choices((1, 2, 3, 4, 5), weights)[0]
    done = None if open_still else resolved
    took = None if open_still else round((resolved - opened).total_seconds() / 3600, 2)
    return SupportTicket(number, customer, order, agent, opened, done, took, topic, priority, satisfaction)


def _moment(random: Random, day: date) -> datetime:
    return datetime(day.year, day.month, day.day, random.randrange(7, 22), random.randrange(60))


# Chance.


def _pick(random: Random, choices: Sequence[tuple[T, float]]) -> T:
    return random.choices([choice for choice, _ in choices], [weight for _, weight in choices])[0]


def _poisson(random: Random, mean: float) -> int:
    """A Poisson-distributed number by Knuth's method, which is fast for small means like those used here."""
    limit, product, number = exp(-mean), random.random(), 0
    while product > limit:
        product *= random.random()
        number += 1
    return number


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m answerable.demo.generate OUT")
    for path in write(Path(sys.argv[1])):
        print(path)

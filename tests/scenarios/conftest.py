"""A folder of sales as users have it."""

from pathlib import Path

import pytest


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    return _sales_below(tmp_path)


@pytest.fixture(scope="module")
def read_sales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for all tests of a module, which only read it."""
    return _sales_below(tmp_path_factory.mktemp("read"))


def _sales_below(base: Path) -> Path:
    """Two quarters, three regions; South grew by half, North by a tenth, East shrank. `as_of` fixes "last quarter"."""
    folder = base / "sales"
    folder.mkdir()
    lines = ["order_id,ordered_on,region_id,product,quantity,amount"]
    amounts = {1: (100, 110), 2: (100, 150), 3: (100, 80)}
    number = 0
    for region, (before, after) in amounts.items():
        for day, amount in (("2025-08-15", before), ("2025-11-15", after)):
            for product, share in (("Tea", 0.75), ("Coffee", 0.25)):
                number += 1
                lines.append(f"{number},{day},{region},{product},{number},{amount * share}")
    (folder / "orders.csv").write_text("\n".join(lines) + "\n")
    (folder / "regions.csv").write_text("region_id,region\n1,North\n2,South\n3,East\n")
    (folder / "semantic.yaml").write_text("as_of: 2026-01-10\n")
    return folder

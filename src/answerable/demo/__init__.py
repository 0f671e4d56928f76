"""The source named `demo`: a small company whose data comes with the package."""

from pathlib import Path

SAMPLE_QUESTIONS = (
    "How many orders did we get in 2025?",
    "What was the revenue by region in 2025?",
    "Top 5 products by revenue",
    "Revenue per month in 2025",
    "Which products have never been sold?",
)

ACCESS_QUESTIONS = ("How many orders did we get in 2025?", "Average salary of employees")


def access_rules() -> Path:
    """Rules for three people who see different parts of this data: `answerable demo access`."""
    return Path(__file__).parent / "access.yaml"


def location() -> Path:
    """The folder of the data files."""
    return Path(__file__).parent / "data"


def golden_cases() -> Path:
    """The questions on this data with checked answers, as `answerable eval demo` asks them."""
    return Path(__file__).parent / "golden.jsonl"

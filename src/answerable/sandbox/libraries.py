"""The libraries that code in a full Python may import beside the standard library, and which of them are here."""

from functools import cache
from importlib import metadata

TABLES = ("polars", "pyarrow", "numpy", "pandas")
"""Loaded ahead of any code, those that are installed; the first must be."""
STATISTICS = ("scipy", "sklearn", "statsmodels")
"""Loaded ahead of code that names one of them, because loading them takes seconds."""
EXTRA = "answerable[analysis]"
"""Brings all of them."""
_DISTRIBUTIONS = {"sklearn": "scikit-learn"}
_LOADED = {
    "scipy": ("scipy.stats", "scipy.optimize"),
    "sklearn": (
        "sklearn.cluster",
        "sklearn.decomposition",
        "sklearn.ensemble",
        "sklearn.linear_model",
        "sklearn.metrics",
        "sklearn.model_selection",
        "sklearn.preprocessing",
    ),
    "statsmodels": ("statsmodels.api", "statsmodels.formula.api"),
}
"""The parts that programs use most; the libraries themselves load nothing of use."""


@cache
def installed() -> dict[str, str]:
    """The version of each library that code in the `kernel` sandbox can import, by the name of its module."""
    found = {}
    for module in (*TABLES, *STATISTICS):
        try:
            found[module] = metadata.version(distribution(module))
        except metadata.PackageNotFoundError:
            continue
    return found


def distribution(module: str) -> str:
    """The name under which a library is installed."""
    return _DISTRIBUTIONS.get(module, module)


def loaded_for(code: str) -> tuple[str, ...]:
    """The modules that a process should have loaded before it gets this code."""
    here = installed()
    if any(name in code for name in STATISTICS if name in here):
        return (*TABLES, *(part for name in STATISTICS if name in here for part in _LOADED[name]))
    return TABLES

"""Gold statements of evaluations, which the operator wrote and which run as they stand.

The allow-list keeps out what strangers and models may write. A gold statement is what an answer is measured against:
were it refused or written anew, the figures would change. The isolation and the limits of the source hold for it as
for every other query. Only `service/eval_runner.py` may create one; `tests/query/test_checked.py` makes sure of that.
"""

from dataclasses import dataclass

from answerable.core.values import Language
from answerable.query.checked import CheckedQuery


@dataclass(frozen=True, slots=True)
class OperatorSql(CheckedQuery):
    """A statement that the operator vouches for; its text is the operator's own."""


def operator_query(sql: str, dialect: Language) -> OperatorSql:
    return OperatorSql(dialect, sql)

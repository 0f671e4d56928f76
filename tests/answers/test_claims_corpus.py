"""The check of claims, measured on sentences over real rows. In `tests/fixtures/claims`, `results.json` has the rows;
`sentences*.txt` and `kept_back*.txt` have sentences about them: true ones after `+`, and ones that are wrong in one
way, which they name, after `-`. The sentences kept back were never looked at one by one while the check was written;
those of the second file are of other shapes than all before (rates, ranges, statistics, both and neither, sums of
groups).
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from answerable.answers.checking.claims import check_claims
from answerable.answers.format import format_spec
from answerable.answers.prose import DescribedResult, prose
from answerable.core.values import OutputColumn

CORPUS = Path(__file__).parents[1] / "fixtures" / "claims"
RESULTS = json.loads((CORPUS / "results.json").read_text(encoding="utf-8"))
FILES = ("sentences.txt", "sentences_2.txt", "sentences_3.txt", "kept_back.txt", "kept_back_2.txt")
WAYS = "value row direction superlative unit rounding count share period name invented".split()  # noqa: SIM905


def sentences(file: str) -> list[tuple[str, str, str]]:
    """The name of the result, `+` or the way in which the sentence is wrong, and the sentence."""
    found = []
    for block in (CORPUS / file).read_text(encoding="utf-8").split("== ")[1:]:
        result, *lines = block.strip().split("\n")
        for line in lines:
            mark, text = ("+", line[2:]) if line.startswith("+") else line.removeprefix("- ").split(": ", 1)
            found.append((result, mark, text))
    return found


def stays(result: str, text: str) -> bool:
    known = RESULTS[result]
    columns = [OutputColumn(name=name, type=kind) for name, kind in known["columns"].items()]
    return check_claims(text, columns, known["rows"], question=known["question"]).text == text


@pytest.mark.parametrize(
    ("file", "at_least", "true_kept", "false_stopped"),
    [
        ("sentences.txt", 400, 0.99, 0.99),
        ("sentences_2.txt", 200, 0.93, 0.96),
        ("sentences_3.txt", 100, 0.92, 0.98),
        ("kept_back.txt", 200, 0.97, 0.97),
        ("kept_back_2.txt", 100, 0.89, 0.93),
    ],
)
def test_true_sentences_stay_and_false_ones_do_not(
    file: str, at_least: int, true_kept: float, false_stopped: float
) -> None:
    cases = sentences(file)
    right = Counter(mark == "+" for result, mark, text in cases if stays(result, text) == (mark == "+"))
    total = Counter(mark == "+" for _, mark, _ in cases)
    assert len(cases) >= at_least
    assert min(total.values()) / len(cases) > 0.45, "about half of the sentences are true"
    assert right[True] / total[True] >= true_kept
    assert right[False] / total[False] >= false_stopped


def test_the_corpus_has_every_way_to_be_wrong() -> None:
    ways = Counter(mark for file in FILES for _, mark, _ in sentences(file))
    assert set(ways) == {"+", *WAYS}


def test_no_sentence_is_in_the_corpus_twice() -> None:
    cases = Counter((r, t) for file in FILES for r, _, t in sentences(file))
    assert [case for case, times in cases.items() if times > 1] == []


@pytest.mark.parametrize("result", RESULTS)
def test_our_own_sentences_pass_the_same_check(result: str) -> None:
    known = RESULTS[result]
    columns = [OutputColumn(name=name, type=kind) for name, kind in known["columns"].items()]
    rows = known["rows"]
    text = prose(DescribedResult(columns, rows, len(rows), format_spec(columns, rows)))
    assert check_claims(text, columns, rows, question=known["question"]).findings == ()

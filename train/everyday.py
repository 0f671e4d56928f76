"""Fits the ranker of everyday proposals on the `fit` splits, by folds of databases."""

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import date
from multiprocessing import get_context

import lightgbm
import numpy

from answerable.core.errors import UserError
from answerable.query.sql.to_sql import to_sql
from answerable.reader.everyday.weighing import everyday_plans
from answerable.reader.fitted.trees import Trees
from answerable.reader.grammar.dated_scene import DatedScene
from answerable.reader.linking.scene import link_question
from answerable.reader.linking.tokens import tokenize
from answerable.reader.time.date_phrases import find_dates
from train.cases import Case, database, load_cases, run_sql, same_rows
from train.models import _COMMON, _apart, plain_trees

TODAY = date(2026, 1, 1)
# Questions that are worded like the schema are read by other means first: a part of them is enough to learn from.
EVERY = {"plain": 1, "spider_syn": 2, "spider_train": 3, "geoquery": 4}
_REPEATED = {"plain": 3}


@dataclass
class Weighed:
    """A question with the vectors of its proposals, and which of them are right."""

    case: Case
    vectors: "numpy.ndarray"
    right: "numpy.ndarray"
    rows: list[int]
    """How many rows each gave; -1 if it failed."""
    left_over: list[int]


def weigh(case: Case) -> Weighed:
    data = database(case.database)
    scene = link_question(tokenize(case.question), data.schema, data.values, guessing=True)
    plans = everyday_plans(DatedScene(scene, find_dates(scene.question.text, TODAY)))
    right, counts = [], []
    for one in plans:
        try:
            rows = run_sql(case.database, to_sql(one.plan, data.catalog))
        except UserError:
            rows = None
        right.append(same_rows(case, rows))
        counts.append(-1 if rows is None else len(rows))
    vectors = numpy.array([one.vector for one in plans], dtype=numpy.float32)
    return Weighed(case, vectors, numpy.array(right, dtype=bool), counts, [len(one.left_over) for one in plans])


def weigh_all(processes: int = 2) -> list[Weighed]:
    cases = [
        case
        for name, every in EVERY.items()
        for number, case in enumerate(load_cases((name,), "fit"))
        if number % every == 0
    ]
    for path in {case.database for case in cases}:
        database(path)  # before the processes fork, so that they share it
    with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
        return list(pool.map(weigh, cases, chunksize=8))


def fit_everyday(questions: Sequence[Weighed], rounds: int = 150, leaves: int = 12) -> Trees:
    useful = [q for q in questions if q.right.any() and not q.right.all()]
    useful = [q for q in useful for _ in range(_REPEATED.get(q.case.set, 1))]
    vectors = _apart(numpy.concatenate([q.vectors for q in useful]))
    labels = numpy.concatenate([q.right for q in useful]).astype(int)
    settings = {
        **_COMMON,
        "objective": "lambdarank",
        "lambdarank_truncation_level": 5,
        "num_leaves": leaves,
        "learning_rate": 0.06,
        "min_data_in_leaf": 25,
        "feature_fraction": 0.4,
        "lambda_l2": 2.0,
    }
    data = lightgbm.Dataset(vectors, labels, group=[len(q.right) for q in useful])
    return plain_trees(lightgbm.train(settings, data, rounds), vectors)

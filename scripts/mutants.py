"""Plants one defect after the other in the code and runs the tests that should catch it. Prints those that survive.

`make mutants` runs all; `ARGS="breaker cache"` only those whose name contains one of the words. Each file is put back
as it was. A new defect is a row of `MUTANTS`: a piece of code that stands once in its file, what takes its place, and
the tests that must fail then.
"""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "answerable"


class Mutant(NamedTuple):
    name: str
    file: str
    old: str
    new: str
    tests: str


MUTANTS = (
    Mutant(
        "a run that waits for room is not cancelled",
        "store/runs.py",
        "if not to_end_it:",
        "if True:",
        "tests/graphs/test_limits.py",
    ),
    Mutant(
        "a server that leaves runs to workers cancels none",
        "service/run_carrier.py",
        "if record.run not in self._live:",
        "if record.run not in self._live and not self._leaves_runs:",
        "tests/graphs/test_workers.py",
    ),
    Mutant(
        "the first retry waits twice as long",
        "core/retry.py",
        "factor ** (attempt - 1)",
        "factor**attempt",
        "tests/core/test_retry.py",
    ),
    Mutant(
        "a breaker opens one failure late",
        "core/breaker.py",
        "self._failures >= self._threshold",
        "self._failures > self._threshold",
        "tests/engine/test_guards.py",
    ),
    Mutant(
        "a length beside chunks is read",
        "gateway/framing.py",
        "if counted[_LENGTH_NAME] and counted[_ENCODING_NAME]:",
        "if False:",
        "tests/gateway/test_framing.py",
    ),
    Mutant(
        "an edit of another tenant is read",
        "store/edits.py",
        "WHERE edit_id = ? AND tenant_id = ? AND",
        "WHERE edit_id = ? AND ? <> '' AND",
        "tests/conformance/test_store_edits.py",
    ),
    Mutant(
        "an artifact of another tenant is read",
        "store/artifacts.py",
        "if not await self._database.rows(_OWNED, *own(principal), artifact):",
        "if False:",
        "tests/conformance/test_store_artifacts.py",
    ),
    Mutant(
        "a budget cannot be spent to the last token",
        "store/budgets.py",
        "tokens_reserved + ? > tokens_limit",
        "tokens_reserved + ? >= tokens_limit",
        "tests/conformance/test_store_budgets.py",
    ),
    Mutant(
        "a formula is exported as it is",
        "answers/export.py",
        """.then(pl.lit("'") + text)""",
        ".then(text)",
        "tests/answers/test_export.py",
    ),
    Mutant(
        "a fairly sure reading is called sure",
        "agents/reader_graphs.py",
        'confidence >= SURE else "medium" if',
        'confidence >= SURE else "high" if',
        "tests/agents/test_reader_graphs.py",
    ),
    Mutant(
        "a client that reconnects gets an event twice",
        "gateway/sse.py",
        "return int(last_event_id)",
        "return int(last_event_id) - 1",
        "tests/gateway/test_chat.py tests/gateway/test_runs.py",
    ),
    Mutant(
        "a cached catalog outlives a change of the data",
        "sources/worker_source.py",
        "digest(_FORMAT, self.kind, self.name, snapshot.fingerprint)",
        "digest(_FORMAT, self.kind, self.name)",
        "tests/sources/test_files.py tests/sources/test_sqlite.py",
    ),
    Mutant(
        "a sandbox ignores its memory limit",
        "sandbox/monty/run.py",
        '"max_memory": min(limits.memory_mb, MEMORY_MB) * _MB',
        '"max_memory": MEMORY_MB * _MB',
        "tests/sandbox/test_monty.py",
    ),
    Mutant(
        "a password in the query of a URL is shown",
        "sources/sql/postgres_url.py",
        "if name not in parameters.secret}",
        "if True}",
        "tests/sources/test_open.py",
    ),
    Mutant(
        "the last full page of threads offers another",
        "gateway/routes/threads.py",
        "if len(found) == limit else None",
        "if len(found) >= limit - 1 else None",
        "tests/gateway/test_threads.py",
    ),
    Mutant(
        "an API is asked once more than its burst",
        "apis/rate.py",
        "max((1 - self._tokens) / self._rate.per_second",
        "max(-self._tokens / self._rate.per_second",
        "tests/apis",
    ),
)


def main(words: list[str]) -> int:
    chosen = [mutant for mutant in MUTANTS if not words or any(word in mutant.name for word in words)]
    survived = [mutant for mutant in chosen if not _is_caught(mutant)]
    print(f"{len(chosen) - len(survived)} of {len(chosen)} mutants were caught.")
    return 1 if survived else 0


def _is_caught(mutant: Mutant) -> bool:
    path = PACKAGE / mutant.file
    text = path.read_text()
    if text.count(mutant.old) != 1:
        raise SystemExit(f"{mutant.file} does not hold `{mutant.old}` exactly once; correct the mutant's row.")
    path.write_text(text.replace(mutant.old, mutant.new))
    try:
        command = [sys.executable, "-m", "pytest", "--exitfirst", "--numprocesses=0", *mutant.tests.split()]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    finally:
        path.write_text(text)
    if ended.returncode not in (0, 1):
        raise SystemExit(f"The tests of “{mutant.name}” could not run:\n{ended.stdout}{ended.stderr}")
    print(f"{'caught  ' if ended.returncode else 'SURVIVED'}  {mutant.name}", flush=True)
    return bool(ended.returncode)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

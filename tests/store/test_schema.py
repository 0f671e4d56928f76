"""Migrations: numbered, told in a sentence, and only ever appended to."""

import hashlib
from pathlib import Path

import pytest

import answerable.store
from answerable.core.errors import OperatorError
from answerable.store.schema import Migration, migrations, parsed, pending

FOLDER = Path(answerable.store.__file__).parent / "migrations"

FROZEN = {
    "0001_first_tables.sql": "30c7ab6fa6680e00c610440be928dc1d826a745a786b8169219a0fa13b48e45f",
    "0002_owner_of_runs.sql": "6a8d536fa038ab1f8c5fc7b8359f83965a7272bba5f73e33d47f16ed7220feb0",
    "0003_budgets.sql": "23ef7afe81489d6db144d38c5e1e63afccce5ccd730059fd86e978cd05002308",
    "0004_lists.sql": "5d6b17935259030531a7fd2a1af7ca94c322aed9e9f6bfd8eead14cd7b547765",
    "0005_semantic_edits.sql": "ef708be5d42ca2679c60b4e7f2cd77e0c9daf64a009b6e4a378f3a385f3f86f9",
    "0006_evals.sql": "b15d4e1a2174c59cfbc5936a3af1f0ee51d794da0183709c4c21453d6cfb21e7",
    "0007_leases.sql": "ed01edecbd26d9d6df3177b98f700c3f56aeaf9f69cfdc635c0af16ba4f5b9b9",
    "0008_outbox.sql": "ecfac862d8c3eac18286c67eab30f15aaa1d3aaba67057f1033f947b733fc4ac",
    "0009_retention.sql": "e1237b21463648f1d78229ca7efe6a7a5bd4aad351f3fb182bd900e9f34fc0fe",
    "0010_unsettled_edits.sql": "6cdffff304b75cd62f27fa5ec233137aadbad2846b5c9c26c94c41e6a1322d0e",
    "0011_deaths_of_runs.sql": "e4a087fd1ca547d32137683c9fecfd1179cf534df80a91660546d93061dfdcd2",
    "0012_idempotency_keys.sql": "e5176f9eced4238a2394f3d8248dd93fd9bdc10d46150a0cc5e77fce9f75d7ba",
    "0013_positions_of_runs.sql": "656598344d611d0b52e771c0faabb9e88ff127f1ae8607af46a2de0f573bf3ee",
    "0014_order_of_edits.sql": "5965d314414ce1e50552d9b9367675cd96a96d6b3da7e3fd4c2b2b63eb7c14f9",
    "0015_replies_to_keys.sql": "27585b98753a766f7cab27ef1393854aad7667f1fd94fccb8247101685fe04f3",
    "0016_graphs.sql": "b51e4535a28cb9cd917021317e19a6e4f05c8c5d786ce320f05c23b2284265c4",
    "0017_identities.sql": "c4d516916fef957d15c47980ee754a7c090e70b9e9b23be7f920791a19dec9bf",
    "0018_waking_and_schedules.sql": "4e9614c3b51a0c8fe9d897f7ee660a22e7dea9df0c9838cdb6e8b3f67f86e4ba",
    "0019_keys_and_sign_ins.sql": "d1d78072b43c12ae668d8551cc8c1d5f960c6bc5429bade1b9931d0b64a33125",
    "0020_runs_of_graphs.sql": "9f0fccbf4b7918fa2db3ceb22a2a677d60125914c54565280c016c14b1d5c3f3",
    "0021_rate_limits.sql": "0bd41074a8c5d7be620927d8a2cd8b5a3c2893edc923bacc9466d28fa532ed22",
    "0022_groups.sql": "63d5ccba3db71e567710c3e3e6519f4c04899cc4d3e3819115cee16401c01401",
    "0023_access_history.sql": "352464a3e02f052b05c11a3a118837d87d0ed6bfc94edeaf8d59e9b64d7e1520",
    "0024_claims_of_runs.sql": "59846a0f763a2e82afc72bb80f98ca25e08899792d4ad33451f1d490e3a18130",
    "0025_versioned_texts.sql": "a384f63a6c8a391bbeb8b4fec1dcc5c81f03ab4944dfc811a407efd30b5e2d5a",
}
"""SHA-256 of every migration: stores out there have run it, so it never changes. New ones are added here."""


def test_numbers_follow_each_other_from_one() -> None:
    assert [one.number for one in migrations()] == list(range(1, len(migrations()) + 1))


def test_each_has_a_sentence_and_statements() -> None:
    for one in migrations():
        assert one.name.endswith(".")
        assert one.statements
        assert not any(statement.endswith(";") for statement in one.statements)


def test_migrations_are_added_never_edited() -> None:
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in FOLDER.glob("*.sql")} == FROZEN


def test_a_file_becomes_a_migration() -> None:
    text = "-- Adds a table.\n\nCREATE TABLE a (\n    b TEXT\n) /* sqlite: WITHOUT ROWID */;\n\nDROP TABLE c;\n"
    one = parsed("0042_add_a.sql", text)
    assert (one.number, one.name) == (42, "Adds a table.")
    assert one.statements == ("CREATE TABLE a (\n    b TEXT\n) /* sqlite: WITHOUT ROWID */", "DROP TABLE c")
    assert one.for_sqlite()[0].endswith(")  WITHOUT ROWID ")


def test_only_what_is_missing_is_pending() -> None:
    known = [Migration(number, "Does something.", ()) for number in (1, 2, 3)]
    assert pending(set(), known, "x.db") == known
    assert pending({1, 2}, known, "x.db") == known[2:]
    assert pending({1, 2, 3}, known, "x.db") == []


def test_more_than_is_known_is_a_newer_store() -> None:
    with pytest.raises(OperatorError, match=r"x\.db was written by a newer version.*schema 4.*knows 3") as caught:
        pending({1, 2, 3, 4}, [Migration(number, "Does something.", ()) for number in (1, 2, 3)], "x.db")
    assert caught.value.stable_code == "store_newer"

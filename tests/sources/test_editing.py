"""Single things are said differently; the rest of the text stays as somebody wrote it."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answerable.core.errors import AnswerableError
from answerable.sources.editing import (
    NameEdit,
    RelationshipEdit,
    RelationshipRemoval,
    edited,
    read_meaning,
    write_meaning,
)
from answerable.sources.open import open_source
from answerable.sources.semantic import parse

TEXT = """\
# What sales calls things.
version: 1

tables:
  # Who buys.
  customers:
    label: Customer   # singular
    synonyms: buyer
    columns:
      nm: {label: Name}
      # Two letters.
      cc:
        description: >
          Country, as
          ISO says.
        synonyms:
        - country
        - land   # German

  orders:
    hidden: true

# How they meet.
relationships:
- {from: orders.customer_id, to: customers.id}
"""


def names(**said: object) -> NameEdit:
    return NameEdit.model_validate({"table": "customers", **said})


def test_one_value_changes_one_line() -> None:
    changed = edited(TEXT, [names(label="Client")])
    assert changed == TEXT.replace("    label: Customer   # singular\n", "    label: Client\n")


def test_comments_and_styles_of_others_stay() -> None:
    changed = edited(TEXT, [names(column="cc", synonyms=["nation"]), names(column="nm", unit="x")])
    assert "# Two letters." in changed
    assert "description: >\n          Country, as\n          ISO says.\n" in changed
    assert "# How they meet." in changed
    said = parse(changed).tables["customers"].columns
    assert (said["cc"].synonyms, said["nm"].unit, said["nm"].label) == (("nation",), "x", "Name")


def test_new_things_are_added_where_they_belong() -> None:
    new = [names(column="ph", label="Phone"), NameEdit(table="stores", synonyms=("shop",))]
    changed = edited(TEXT, new)
    said = parse(changed)
    assert said.tables["customers"].columns["ph"].label == "Phone"
    assert said.tables["stores"].synonyms == ("shop",)
    for line in TEXT.splitlines():
        assert line in changed.splitlines(), line


def test_null_takes_away() -> None:
    changed = edited(TEXT, [names(label=None, synonyms=None), NameEdit(table="orders", hidden=False)])
    customers = parse(changed).tables["customers"]
    assert (customers.label, customers.synonyms) == (None, ())
    assert not parse(changed).tables.get("orders")
    assert "# Who buys." in changed


def test_relationships_are_named_and_forgotten() -> None:
    ends = {"from": "orders.customer_id", "to": "customers.id"}
    named = edited(TEXT, [RelationshipEdit.model_validate({**ends, "name": "placed"})])
    [one] = parse(named).relationships
    assert one.name == "placed"
    assert "# singular" in named
    gone = edited(named, [RelationshipRemoval.model_validate(ends)])
    assert parse(gone).relationships == ()
    with pytest.raises(AnswerableError) as caught:
        edited(gone, [RelationshipRemoval.model_validate(ends)])
    assert caught.value.stable_code == "relationship_unknown"


@pytest.mark.parametrize(
    "text", ["", "# nothing\n", "version: 1", "tables:\n", "tables: {}\n", "{tables: {a: {label: x}}}"]
)
def test_any_way_of_writing_can_be_changed(text: str) -> None:
    assert parse(edited(text, [names(label="C")])).tables["customers"].label == "C"


OTHER_STYLES = {
    "wide indentation": "tables:\n      orders:\n          label: Order\n      customers:\n          label: Customer\n",
    "uneven indentation": "tables:\n  orders:\n       label: Order\n",
    "aligned": "version  :   1\ntables:\n  orders:\n    label   :  Order\n    hidden  :  true\n",
    "flow": "tables:\n  orders: { label:  Order,synonyms: [ a,b ] }\n",
    "flow over lines": "tables:\n  orders: {label: Order,\n     hidden: true}\n",
    "quotes": """tables:\n  'orders':\n    label: "O\\u0072der"\n    description: 'it''s'\n""",
    "text over lines": "tables:\n  orders:\n    description: one\n      two\n    label: |-\n      x\n       y\n",
    "no end of line": "tables:\n  customers:\n    label: Customer\n  orders:\n    label: Order",
    "document marks": "---\ntables:\n  customers:\n    label: Customer\n...\n",
    "lists": "tables:\n  orders:\n    synonyms:\n      - a   # one\n      # between\n      - b\n",
    "blank lines": "\n\ntables:\n\n\n  customers:\n\n    label: Customer\n\n\n\n  orders:\n    label: Order\n\n",
    "null": "tables:\n  customers:\n    label: Customer\n  orders:\n    label: ~\n    hidden: true\n",
    "trailing spaces": "tables:   \n  orders:  # all\n    label: Order   \n",
}


@pytest.mark.parametrize("text", OTHER_STYLES.values(), ids=OTHER_STYLES)
def test_what_is_not_edited_stays_letter_by_letter(text: str) -> None:
    text = text if "customers" in text else f"{text}  customers:\n    label: Customer\n"
    old = next(line for line in text.splitlines(keepends=True) if "label: Customer" in line)
    expected = text.replace(old, old.replace("Customer", "Client"))
    assert edited(text, [names(label="Client")]).rstrip("\n") == expected.rstrip("\n")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.builds(
            NameEdit,
            table=st.sampled_from(["customers", "orders", "a: b", "#", "x y"]),
            column=st.sampled_from([None, "nm", "cc", "- z", "'"]),
            label=st.sampled_from([None, "Ä: #x", "true", "2020-01-01", "[", "line\\n"]),
            synonyms=st.sampled_from([None, (), ("a",), ("no", "- b", "c: d")]),
        ),
        max_size=4,
    )
)
def test_what_was_meant_is_what_is_read(edits: list[NameEdit]) -> None:
    said = parse(edited(TEXT, edits))
    for edit in {(edit.table, edit.column): edit for edit in edits}.values():
        table = said.tables.get(edit.table)
        thing = table.columns.get(edit.column) if table and edit.column else table
        assert (thing.label if thing else None) == edit.label
        assert (thing.synonyms if thing else ()) == (edit.synonyms or ())


async def test_a_file_keeps_its_line_ends_and_its_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "customers.csv").write_text("id,nm\n1,Ada\n")
    file = tmp_path / "semantic.yaml"
    file.write_bytes(b"\xef\xbb\xbftables:\r\n  customers:\r\n    label: Customer\r\n")
    source = await open_source(str(tmp_path), cache=tmp_path / "cache")
    meaning = await read_meaning(source)
    await write_meaning(source, edited(meaning.text, [names(label="Client")]))
    await source.close()
    assert file.read_bytes() == b"\xef\xbb\xbftables:\r\n  customers:\r\n    label: Client\r\n"


async def test_names_of_one_file_are_not_written_where_its_neighbours_look(tmp_path: Path) -> None:
    for name in ("sales", "staff"):
        (tmp_path / f"{name}.csv").write_text("id,amount\n1,2\n", "utf-8")
    source = await open_source(str(tmp_path / "sales.csv"), cache=tmp_path / "cache")
    try:
        found = await read_meaning(source)
    finally:
        await source.close()
    assert found.file.name == "sales.semantic.yaml"

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.core.words import fold, name_words, normalise, singular, stem, stemmed, words


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("São Paulo", "sao paulo"),
        ("  New\tYork ", "new york"),
        ("O'Brien's", "obriens"),
        ("U.S.A.", "usa"),
        ("3.5 mm", "3 5 mm"),
        ("AT&T", "at t"),
        ("Łódź", "lodz"),
        ("Ærøskøbing", "aeroskobing"),
        ("Straße", "strasse"),
        ("İstanbul", "istanbul"),
        ("ﬁne", "fine"),
        ("हिन्दी भाषा", "हिनदी भाषा"),
        ("東京", "東京"),
        ("--", ""),
        ("", ""),
    ],
)
def test_normal_form(text: str, normal: str) -> None:
    assert normalise(text) == normal


@given(st.text())
def test_a_normal_form_is_its_own_normal_form(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text(alphabet=st.characters(codec="latin-1")))
def test_case_and_blanks_never_matter(text: str) -> None:
    assert normalise(f"  {text.upper()} ") == normalise(text.lower()) == normalise(text)


def test_folding_keeps_punctuation() -> None:
    assert fold(" C++  É ") == "c++ e"


def test_words_of_a_text() -> None:
    assert words("Which customers, in Zürich?") == ["which", "customers", "in", "zurich"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("customer_id", ["customer", "id"]),
        ("CustomerID", ["customer", "id"]),
        ("customerId", ["customer", "id"]),
        ("HTTPServer", ["http", "server"]),
        ("unit price", ["unit", "price"]),
        ("address2", ["address", "2"]),
        ("Q1", ["q1"]),
        ("", []),
    ],
)
def test_words_of_a_name(name: str, expected: list[str]) -> None:
    assert name_words(name) == expected


@pytest.mark.parametrize(
    ("plural", "expected"),
    [
        ("cities", "city"),
        ("boxes", "box"),
        ("classes", "class"),
        ("buses", "bus"),
        ("campuses", "campus"),
        ("houses", "house"),
        ("movies", "movie"),
        ("women", "woman"),
        ("people", "person"),
        ("status", "status"),
        ("analysis", "analysis"),
        ("gas", "gas"),
        ("ties", "tie"),
        ("series", "series"),
    ],
)
def test_singular(plural: str, expected: str) -> None:
    assert singular(plural) == expected


@pytest.mark.parametrize(
    "forms",
    [
        ["manage", "manages", "managed", "managing"],
        ["plan", "plans", "planned", "planning"],
        ["fill", "fills", "filled", "filling"],
        ["study", "studies", "studied", "studying"],
        ["city", "cities"],
        ["order", "orders", "ordered", "ordering"],
        ["address", "addresses"],
        ["employee", "employees"],
        ["person", "people"],
    ],
)
def test_forms_of_a_word_share_a_stem(forms: list[str]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("ring", "red"), ("string", "str"), ("bed", "b"), ("university", "universe"), ("news", "new")]
)
def test_different_words_keep_different_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_stems_of_a_text() -> None:
    assert stemmed("managed cities") == stemmed("managing city")


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=15))
def test_a_stem_is_never_empty_and_plural_s_is_lost(word: str) -> None:
    assert stem(word)
    assert len(stem(word)) <= len(word) + 1

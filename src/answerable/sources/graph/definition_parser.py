"""Reads `CREATE NODE TABLE`, `CREATE REL TABLE` and `COPY`, and nothing else. No statement of a file is ever run: what
is read becomes a definition, and the definition is written anew."""

from collections.abc import Iterator, Mapping
from typing import NoReturn

from answerable.core.errors import AnswerableError, FileError
from answerable.query.cypher.tokens import CypherToken, all_tokens
from answerable.query.cypher.words import words
from answerable.query.cypher.write import name as written_name
from answerable.query.scope import nearest
from answerable.sources.graph.definitions import EdgeTable, Filling, GraphTable, NodeTable

_SIMPLE_TYPES = words(
    "INT8 INT16 INT32 INT64 INT128 INT SERIAL UINT8 UINT16 UINT32 UINT64 FLOAT REAL DOUBLE BOOL BOOLEAN STRING",
    "UUID DATE TIMESTAMP TIMESTAMP_NS TIMESTAMP_MS TIMESTAMP_SEC TIMESTAMP_TZ INTERVAL DURATION BLOB BYTEA",
)
_TYPES = _SIMPLE_TYPES | {"STRUCT", "UNION", "MAP", "DECIMAL"}
_MULTIPLICITIES = ("MANY_MANY", "MANY_ONE", "ONE_MANY", "ONE_ONE")
_DEEPEST_TYPE = 16
_SIGNS = {"DELIM": "DELIM", "DELIMITER": "DELIM", "QUOTE": "QUOTE", "ESCAPE": "ESCAPE"}
_ONLY = "Only CREATE NODE TABLE, CREATE REL TABLE and COPY … FROM are read."


def read_definitions(texts: Mapping[str, str]) -> tuple[tuple[GraphTable, ...], tuple[Filling, ...]]:
    """The tables and fillings of files, given as their texts by their names. Nodes stand before relationships."""
    tables: dict[str, GraphTable] = {}
    fillings: list[Filling] = []
    for file, text in texts.items():
        parser = _Parser(file, text, tables)
        for found in parser.statements():
            if isinstance(found, Filling):
                fillings.append(found)
            else:
                tables[found.name.casefold()] = found
    if not tables:
        raise FileError(f"{', '.join(texts)}: no table is defined.", code="graph_schema_invalid", hint=_ONLY)
    nodes_first = sorted(tables.values(), key=lambda table: isinstance(table, EdgeTable))
    return tuple(nodes_first), tuple(sorted(fillings, key=lambda each: nodes_first.index(each.table)))


class _Parser:
    def __init__(self, file: str, text: str, tables: Mapping[str, GraphTable]) -> None:
        """`tables`: those that are known so far, by their names in small letters; grows meanwhile."""
        self._file, self._text, self._tables = file, text, tables
        self._next = 0
        try:
            self._tokens = all_tokens(text, most=len(text))
        except AnswerableError as error:
            raise FileError(f"{file}: {error.message}", code="graph_schema_invalid", hint=error.hint) from error

    # Tokens.

    @property
    def _token(self) -> CypherToken:
        return self._tokens[self._next]

    def _take(self) -> CypherToken:
        token = self._token
        self._next += token.kind != "end"
        return token

    def _word(self, word: str) -> bool:
        found = self._token.is_word(word)
        self._next += found
        return found

    def _symbol(self, symbol: str) -> bool:
        found = self._token.is_symbol(symbol)
        self._next += found
        return found

    def _expect(self, *expected: str) -> None:
        for each in expected:
            if not (self._word(each) if each.isalpha() else self._symbol(each)):
                self._unexpected(each)

    def _name(self, what: str) -> str:
        if self._token.kind not in ("name", "quoted") or not self._token.value:
            self._unexpected(what)
        return self._take().value

    def _quoted(self, what: str) -> str:
        if self._token.kind != "text":
            self._unexpected(what)
        return self._take().value

    def _place(self) -> str:
        return f"{self._file}, line {self._text.count(chr(10), 0, self._token.place) + 1}"

    def _unexpected(self, wanted: str) -> NoReturn:
        found = "the file ends" if self._token.kind == "end" else f"there is {self._token.value[:40]!r}"
        self._wrong(f"{found}; {wanted} was expected.", _ONLY)

    def _wrong(self, message: str, hint: str | None = None, place: str | None = None) -> NoReturn:
        raise FileError(f"{place or self._place()}: {message}", code="graph_schema_invalid", hint=hint)

    # Statements.

    def statements(self) -> Iterator[GraphTable | Filling]:
        while self._token.kind != "end":
            if self._symbol(";"):
                continue
            if self._token.is_word("COPY"):
                yield from self._copy()
            elif self._token.is_word("CREATE"):
                yield self._create()
            else:
                self._unexpected("CREATE or COPY")

    def _create(self) -> GraphTable:
        place = self._place()
        self._expect("CREATE")
        if not self._token.is_word("NODE", "REL"):
            self._unexpected("NODE TABLE or REL TABLE")
        is_node = self._take().is_word("NODE")
        self._expect("TABLE")
        if self._word("IF"):
            self._expect("NOT", "EXISTS")
        name = self._name("the name of the table")
        if name.casefold() in self._tables:
            self._wrong(f"the table {name!r} is already defined at {self._tables[name.casefold()].place}.", place=place)
        self._expect("(")
        return self._node_table(name, place) if is_node else self._edge_table(name, place)

    def _node_table(self, name: str, place: str) -> NodeTable:
        columns: dict[str, str] = {}
        key: str | None = None
        while True:
            if self._word("PRIMARY"):
                self._expect("KEY", "(")
                key = self._known(self._name("the name of the key"), columns, f"a column of {name}")
                self._expect(")")
            else:
                column = self._column(columns)
                if self._word("PRIMARY"):
                    self._expect("KEY")
                    key = column
            if not self._symbol(","):
                break
        self._expect(")")
        if key is None:
            self._wrong(f"the table {name!r} has no PRIMARY KEY.", "Name the column that is unique.", place)
        return NodeTable(name, columns, key, place)

    def _edge_table(self, name: str, place: str) -> EdgeTable:
        columns: dict[str, str] = {}
        ends: list[tuple[str, str]] = []
        multiplicity = "MANY_MANY"
        while True:
            if self._word("FROM"):
                start = self._node("FROM")
                self._expect("TO")
                ends.append((start, self._node("TO")))
            elif self._token.is_word(*_MULTIPLICITIES):
                multiplicity = self._take().value.upper()
            else:
                self._column(columns)
            if not self._symbol(","):
                break
        self._expect(")")
        if not ends:
            self._wrong(f"the table {name!r} says not FROM which nodes TO which it leads.", place=place)
        return EdgeTable(name, columns, tuple(ends), multiplicity, place)

    def _node(self, word: str) -> str:
        nodes = {table.name: "" for table in self._tables.values() if isinstance(table, NodeTable)}
        return self._known(self._name(f"a node table behind {word}"), nodes, "a node table that is defined before")

    def _known(self, name: str, known: Mapping[str, object], what: str) -> str:
        """The name as it is spelled where it was defined."""
        found = next((each for each in known if each.casefold() == name.casefold()), None)
        if found is None:
            self._wrong(f"{name!r} is not {what}.", nearest(name, known))
        return found

    def _column(self, columns: dict[str, str]) -> str:
        name = self._name("the name of a column")
        if name.casefold() in map(str.casefold, columns):
            self._wrong(f"the column {name!r} is defined twice.")
        columns[name] = self._type()
        if self._token.is_word("DEFAULT"):
            self._wrong("DEFAULT is not read.", "Write the value into the rows that have none.")
        return name

    # Types.

    def _type(self, depth: int = 0) -> str:
        if depth > _DEEPEST_TYPE:
            self._wrong(f"the type is nested more than {_DEEPEST_TYPE} levels deep.")
        kind = self._token.value.upper()
        if self._token.kind != "name" or kind not in _TYPES:
            self._wrong(f"there is no type {self._token.value[:40]!r}.", nearest(kind, _TYPES))
        self._take()
        written = kind + ("" if kind in _SIMPLE_TYPES else f"({', '.join(self._parts(kind, depth + 1))})")
        while self._symbol("["):
            written += f"[{'' if self._token.is_symbol(']') else self._whole()}]"
            self._expect("]")
        return written

    def _parts(self, kind: str, depth: int) -> list[str]:
        self._expect("(")
        parts = [self._part(kind, depth)]
        while self._symbol(","):
            parts.append(self._part(kind, depth))
        self._expect(")")
        if kind in ("MAP", "DECIMAL") and len(parts) != 2:
            self._wrong(f"{kind} takes two parts.")
        return parts

    def _part(self, kind: str, depth: int) -> str:
        if kind == "DECIMAL":
            return str(self._whole())
        if kind == "MAP":
            return self._type(depth)
        return f"{written_name(self._name('the name of a field'))} {self._type(depth)}"

    def _whole(self) -> int:
        if self._token.kind != "integer" or len(self._token.value) > 9:
            self._unexpected("a whole number")
        return int(self._take().value)

    # Fillings.

    def _copy(self) -> Iterator[Filling]:
        place = self._place()
        self._expect("COPY")
        known = {each.name: each for each in self._tables.values()}
        table = known[self._known(self._name("the name of a table"), known, "a table that is defined before")]
        columns = self._listed_columns(table) if self._symbol("(") else ()
        self._expect("FROM")
        files = self._files()
        options = self._options(table) if self._symbol("(") else {}
        if isinstance(table, EdgeTable) and len(table.ends) > 1 and not {"FROM", "TO"} <= options.keys():
            self._wrong(f"{table.name} connects several kinds of nodes.", "Add (FROM='…', TO='…').", place)
        return (Filling(table, file, columns, options, place) for file in files)

    def _listed_columns(self, table: GraphTable) -> tuple[str, ...]:
        columns: list[str] = []
        while not columns or self._symbol(","):
            columns.append(self._known(self._name("the name of a column"), table.columns, f"a column of {table.name}"))
        self._expect(")")
        return tuple(columns)

    def _files(self) -> list[str]:
        if not self._symbol("["):
            return [self._quoted("a file between quotes")]
        files: list[str] = []
        while not files or self._symbol(","):
            files.append(self._quoted("a file between quotes"))
        self._expect("]")
        return files

    def _options(self, table: GraphTable) -> dict[str, str | bool | int]:
        options: dict[str, str | bool | int] = {}
        while True:
            option = self._name("an option").upper()
            self._expect("=")
            if option in ("HEADER", "PARALLEL"):
                if not self._token.is_word("TRUE", "FALSE"):
                    self._unexpected("true or false")
                value = self._take().is_word("TRUE")
                options |= {} if option == "PARALLEL" else {option: value}  # one reader anyway, for the sake of order
            elif option in _SIGNS:
                options[_SIGNS[option]] = self._quoted("a sign between quotes")
            elif option == "SKIP":
                options[option] = self._whole()
            elif option in ("FROM", "TO") and isinstance(table, EdgeTable):
                ends = {pair[option == "TO"]: "" for pair in table.ends}
                options[option] = self._known(self._quoted("a node table"), ends, f"an end of {table.name}")
            else:
                self._wrong(f"the option {option} is not read.", "Known: HEADER, DELIM, QUOTE, ESCAPE, SKIP, FROM, TO.")
            if not self._symbol(","):
                break
        self._expect(")")
        return options

"""Forms of questions about things: lists, firsts, never, both, more than average, still open."""

from answerable.core.words import stem
from answerable.query.plan import (
    Aggregate,
    Between,
    ColumnRef,
    Compare,
    Constant,
    Expr,
    Filter,
    InQuery,
    IsNull,
    Join,
    QueryPlan,
    ScalarQuery,
    SelectItem,
)
from answerable.reader.candidates.clause_options import operator_at
from answerable.reader.grammar.parts import Parts, Period
from answerable.reader.linking.cues import Cue
from answerable.reader.linking.links import Mention
from answerable.reader.linking.row_words import is_row_word
from answerable.reader.linking.schema import ColumnView
from answerable.reader.plans.joins import join_tree
from answerable.reader.plans.plan_builder import column_ref, equals, plan_of

_NAMED = 0.88
_NO_ONE = frozenset({"nobody", "never", "no", "without", "none", "not", "n't"})


class EntityForms(Parts):
    def never(self) -> QueryPlan | None:
        """Things that have no partner: customers without an order."""
        negation = next((place for place, word in enumerate(self.words) if word in _NO_ONE), None)
        tables = self.tables()
        if negation is None or not tables or tables[0].start > negation or self.dates:
            return None
        entity = tables[0]
        other = self._negated_table(entity, negation)
        display = self.schema.tables[entity.id].display
        if other is None or display is None:
            return None
        path = join_tree(self.schema, entity.id, [other])
        left, right = path[0].pairs[0]
        inner = plan_of(self.schema, path[0].end, [column_ref(self.schema, right)], where=self.value_filters(entity.id))
        self.used.add(negation)
        self.take(entity, *self.cues("NEG"))
        condition = InQuery(left=column_ref(self.schema, left), plan=inner, negated=True)
        count = self.cue("COUNT")
        self.take(count)
        shown: Expr = Aggregate(function="count") if count else column_ref(self.schema, display)
        return plan_of(self.schema, entity.id, [shown], where=[condition])

    def _negated_table(self, entity: Mention, negation: int) -> int | None:
        """What is lacking: a table, or the table of a measure or of a date that is said as a verb."""
        for mention in self.scene.links.tables:
            if mention.start > negation and mention.id != entity.id and mention.score >= 0.6:
                self.take(mention)
                return mention.id
        for mention in self.scene.links.measures:
            if mention.start > negation and mention.score >= 0.45:
                self.take(mention)
                return int(self.schema.table_ids[self.schema.measures[mention.id][0].table])
        for mention in self.scene.links.columns:
            table = self.schema.columns[mention.id].table
            if mention.start > negation and table != entity.id and mention.score >= 0.85:
                self.take(mention)
                return int(table)
        return None

    def unfinished(self) -> QueryPlan | None:
        """Tickets that are still open or not resolved: the date of the end is missing."""
        tables = self.tables()
        if not tables:
            return None
        table = tables[0]
        end = self._missing_end(table.id)
        if end is None:
            return None
        self.take(table, *self.cues("NEG"))
        count = self.cue("COUNT")
        self.take(count)
        display = self.schema.tables[table.id].display
        shown: Expr = Aggregate(function="count") if count or display is None else column_ref(self.schema, display)
        condition = IsNull(left=column_ref(self.schema, end))
        times = self.time_filters(table.id)
        if times is None:
            return None
        return plan_of(self.schema, table.id, [shown], where=[condition, *self.value_filters(table.id), *times])

    def _missing_end(self, table: int) -> int | None:
        dates = [
            c
            for c in self.schema.tables[table].columns
            if self.schema.columns[c].temporal and self.schema.columns[c].source.nullable
        ]
        ends = [
            c
            for c in dates
            if {"resolv", "clos", "end", "finish", "complet", "solv", "deliver", "ship"}
            & _stems_of(self.schema.columns[c])
        ]
        for place, word in enumerate(self.words):
            if word == "open" and ends:
                self.used.add(place)
                return ends[0]
            if word.startswith("un") and len(word) > 6:
                matching = [c for c in ends if stem(word[2:]) in _stems_of(self.schema.columns[c])]
                if matching:
                    self.used.add(place)
                    return matching[0]
        if self.cue("NEG") is None:
            return None
        mentioned = [m for m in self.scene.links.columns if m.id in ends and m.score >= 0.85]
        self.take(*mentioned)
        return mentioned[0].id if mentioned else None

    def missing(self) -> QueryPlan | None:
        """Penguins with a missing sex, or whose sex is unknown; tracks without a composer."""
        lacking = [cue for cue in self.cues("NEG") if self.words[cue.end - 1] in ("without", "no")]
        cue = self.cue("NULL") or next(iter(lacking), None)
        tables = self.tables()
        if cue is None or not tables:
            return None
        own = [m for m in self.columns() if self.schema.columns[m.id].table == tables[0].id]
        near = min(own, key=lambda m: (max(m.start - cue.end, cue.start - m.end), -m.score), default=None)
        times = self.time_filters(tables[0].id)
        if near is None or times is None or (cue in lacking and not 0 <= near.start - cue.end <= 1):
            return None
        count = self.cue("COUNT")
        self.take(cue, near, count, tables[0])
        where = [IsNull(left=column_ref(self.schema, near.id)), *self.value_filters(tables[0].id), *times]
        shown = [Aggregate(function="count")] if count else []
        return plan_of(self.schema, tables[0].id, shown, where=where)

    def all_rows(self) -> QueryPlan | None:
        """Show the rows, or five of them, with all that they have."""
        tables = self.tables()
        if len(tables) != 1 or not is_row_word(self.words[tables[0].start]) or self.columns() or self.cue("COUNT"):
            return None
        times = self.time_filters(tables[0].id)
        if times is None:
            return None
        self.take(tables[0])
        self.take(*[cue for cue in self.cues("MIN") if self.words[cue.start] == "first"])
        limit = self.limit() if self.scene.numbers else None
        where = [*self.value_filters(tables[0].id), *times]
        return plan_of(self.schema, tables[0].id, [], where=where, limit=limit)

    def more_than_average(self) -> QueryPlan | None:
        """Products that cost more than the average."""
        cue = self.cue("GT", "LT")
        average = self.cue("AVG")
        tables = self.tables()
        if cue is None or average is None or not tables or average.start < cue.start or self.dates:
            return None
        entity = tables[0]
        column = self.compared_column(entity.id)
        display = self.schema.tables[entity.id].display
        if column is None or display is None:
            return None
        self.take(cue, average, *[m for m in tables if m.id == entity.id])
        left = column_ref(self.schema, column)
        mean = ScalarQuery(plan=plan_of(self.schema, entity.id, [Aggregate(function="avg", of=left)]))
        test = Compare(left=left, op=">" if cue.tag == "GT" else "<", right=mean)
        return plan_of(
            self.schema, entity.id, [column_ref(self.schema, display)], where=[test, *self.value_filters(entity.id)]
        )

    def many(self) -> QueryPlan | None:
        """Customers with more than 50 orders."""
        tables = self.tables()
        numbers = [place for place in self.scene.numbers if place not in self.time_places]
        cue = self.cue("GT", "LT", "GE", "LE", "EQ")
        if len(tables) < 2 or len(numbers) != 1 or cue is None:
            return None
        entity, other = tables[0], tables[1]
        place = numbers[0]
        if not 0 < other.start - place <= 2:
            return None
        self.take(cue, entity, other, *self.cues("GT", "LT", "GE", "LE", "EQ"))
        self.used.add(place)
        dimension = self.table_dimension(entity)
        times = self.time_filters(other.id)
        number = self.scene.tokens[place].value
        if dimension is None or times is None or number is None:
            return None
        having = Compare.model_validate(
            {"left": Aggregate(function="count"), "op": operator_at(self.scene, place), "right": Constant(value=number)}
        )
        where = [*self.value_filters(other.id), *times]
        return plan_of(
            self.schema, entity.id, dimension.shown, where=where, group=dimension.key, having=having, extra=[other.id]
        )

    def most_common(self) -> QueryPlan | None:
        cue = self.cue("COMMON", "RARE")
        tables = self.tables()
        if cue is None:
            return None
        columns = [m for m in self.columns() if not self._is_key(m.id)]
        named = {m.id for m in tables}
        best = min(
            columns, key=lambda m: (self.schema.columns[m.id].table not in named, -m.score, m.start), default=None
        )
        if best is None:
            return None
        table = self.schema.columns[best.id].table
        self.take(cue, best, *[m for m in tables if m.id == table])
        times = self.time_filters(table)
        if times is None:
            return None
        shown = column_ref(self.schema, best.id)
        order: list[tuple[Expr, bool]] = [(Aggregate(function="count"), cue.tag == "COMMON")]
        where = [*self.value_filters(table), *times]
        return plan_of(self.schema, table, [shown], where=where, group=[shown], order=order, limit=self.limit())

    def first_rows(self) -> QueryPlan | None:
        """The most expensive product: rows sorted by a column of their own; or the extremes of that column."""
        cues = self.cues("MAX", "MIN")
        tables = self.tables()
        if not cues or self.measure is not None:
            return None
        entity = tables[0].id if tables else self._owner_of_number()
        column = None if entity is None else self.compared_column(entity)
        display = None if entity is None else self.schema.tables[entity].display
        times = None if entity is None else self.time_filters(entity)
        if column is None or display is None or entity is None or times is None:
            return None
        self.take(*cues, *[m for m in tables if m.id == entity])
        ref = column_ref(self.schema, column)
        where = [*self.value_filters(entity), *times]
        if len({cue.tag for cue in cues}) == 2 or self._asks_for_the_number(column, cues[0], tables):
            shown = [Aggregate.model_validate({"function": cue.tag.lower(), "of": ref}) for cue in cues]
            return plan_of(self.schema, entity, shown, where=where)
        order: list[tuple[Expr, bool]] = [(ref, cues[0].tag == "MAX")]
        shown_name = [column_ref(self.schema, display)]
        return plan_of(self.schema, entity, shown_name, where=where, order=order, limit=self.limit())

    def _asks_for_the_number(self, column: int, extreme: Cue, tables: list[Mention]) -> bool:
        """The highest total of an invoice, but neither the invoice with the highest total nor who has it."""
        named = [mention for mention in self.scene.links.columns if mention.id == column and mention.score >= _NAMED]
        said = any(mention.start >= extreme.end for mention in named)
        rows_first = any(table.start < extreme.start for table in tables)
        asked_of_rows = self.scene.words[0] in ("who", "whose", "which") or self.limit() != 1
        return said and not rows_first and not asked_of_rows

    def _owner_of_number(self) -> int | None:
        """The table of the numeric column that is said in full."""
        best = self.numeric_column()
        return None if best is None else int(self.schema.columns[best.id].table)

    def listing(self) -> QueryPlan | None:
        """Things by name, with conditions on values, numbers and dates."""
        tables = self.tables()
        entity = tables[0].id if tables else self._owner_of_columns()
        display = None if entity is None else self.schema.tables[entity].display
        if entity is None or display is None or self.cue("COUNT", "AVG", "SUM", "EACH", "MAX", "MIN"):
            return None
        self.take(*[m for m in tables if m.id == entity])
        times = self.time_filters(entity)
        ranges = self.number_range(entity)
        if times is None:
            return None
        where = [*self.value_filters(entity), *ranges, *times]
        self.take(*[m for m in self.columns() if m.id == display])
        return plan_of(self.schema, entity, [column_ref(self.schema, display)], where=where) if where else None

    def facts(self) -> QueryPlan | None:
        """The price of AAPL in 2008: columns of one table that has dates, in a period."""
        columns = [m for m in self.columns() if m.end not in self.time_places or not self.schema.columns[m.id].temporal]
        owners = {self.schema.columns[m.id].table for m in columns} | {m.id for m in self.tables()}
        calculated = self.cue("COUNT", "AVG", "SUM", "EACH", "MAX", "MIN", "MOST", "LEAST", "NEG")
        if len(owners) != 1 or calculated or not self.spans("range", "point"):
            return None
        (owner,) = owners
        times = self.time_filters(owner) if self._own_date(owner) is not None else None
        alone = len(self.schema.tables) == 1 or not self.tables()
        if times is None or not alone:
            return None
        where = self.value_filters(owner)
        tested = {best.column for value in self.values for best in self.rivals(value)}
        shown = [column_ref(self.schema, m.id) for m in columns if m.id not in tested]
        self.take(*columns, *self.tables())
        return plan_of(self.schema, owner, list(dict.fromkeys(shown)), where=[*where, *times]) if shown else None

    def _owner_of_columns(self) -> int | None:
        """Who was hired: the table of the only date that is said."""
        owners = {self.schema.columns[m.id].table for m in self.columns(0.88) if self.schema.columns[m.id].temporal}
        return owners.pop() if len(owners) == 1 else None

    def number_range(self, table: int) -> list[Filter]:
        numbers = [place for place in self.scene.numbers if place not in self.time_places]
        column = self.compared_column(table) if numbers else None
        if column is None:
            return []
        left = column_ref(self.schema, column)
        values = [Constant(value=self.scene.tokens[place].value) for place in numbers]
        self.used.update(numbers)
        if len(numbers) == 2:
            self.take(*self.cues("BETWEEN"))
            return [Between(left=left, low=values[0], high=values[1])]
        self.take(*self.cues("GT", "LT", "GE", "LE", "EQ"))
        return [Compare.model_validate({"left": left, "op": operator_at(self.scene, numbers[0]), "right": values[0]})]

    def once_not_now(self) -> QueryPlan | None:
        """Customers who ordered in 2024 but not in 2025."""
        spans = self.spans("range", "point")
        negation = self.cue("NEG")
        tables = self.tables()
        if len(spans) != 2 or negation is None or not tables:
            return None
        entity = tables[0]
        date_of = next((self._own_date(m.id) for m in tables[1:]), None) or self._verb_date(entity.id)
        display = self.schema.tables[entity.id].display
        if date_of is None or display is None:
            return None
        self.take(*tables, *self.cues("NEG"))
        path = join_tree(self.schema, entity.id, [self.schema.columns[date_of].table])
        left, right = path[0].pairs[0]
        tests: list[Filter] = []
        for number, span in enumerate(spans):
            where = self.period_filter(date_of, Period(span.start, span.end))
            inner = plan_of(self.schema, path[0].end, [column_ref(self.schema, right)], where=where)
            tests.append(InQuery(left=column_ref(self.schema, left), plan=inner, negated=number == 1))
        return plan_of(self.schema, entity.id, [column_ref(self.schema, display)], where=tests)

    def _verb_date(self, entity: int) -> int | None:
        """Ordered, as a verb, is the date of another table."""
        for mention in self.scene.links.columns:
            view = self.schema.columns[mention.id]
            if view.temporal and view.table != entity and mention.score >= 0.85:
                self.take(mention)
                return mention.id
        return None

    def bought_both(self) -> QueryPlan | None:
        """Customers who bought both A and B: two values of one column elsewhere."""
        tables = self.tables()
        if len(self.values) != 2 or not tables or self.dates or self.cue("BOTH", "AND") is None or self.cue("COUNT"):
            return None
        entity = tables[0]
        first, second = self.values
        columns = {v.column for v in self.rivals(first)} & {v.column for v in self.rivals(second)}
        columns = {c for c in columns if self.schema.columns[c].table != entity.id}
        display = self.schema.tables[entity.id].display
        if not columns or display is None:
            return None
        column = min(columns, key=lambda c: (self._far(entity.id, c), c))
        path = join_tree(self.schema, entity.id, [self.schema.columns[column].table])
        if len(path) < 2:
            return None
        left, right = path[0].pairs[0]
        tests: list[Filter] = []
        for value in (first, second):
            text = next(v.value for v in self.rivals(value) if v.column == column)
            inner = plan_of(
                self.schema, path[0].end, [column_ref(self.schema, right)], where=[equals(self.schema, column, text)]
            )
            tests.append(InQuery(left=column_ref(self.schema, left), plan=inner))
        self.take(first, second, *tables, *self.cues("BOTH"))
        self.take(*[m for m in self.scene.links.columns if m.score >= 0.85 and self.schema.columns[m.id].temporal])
        return plan_of(self.schema, entity.id, [column_ref(self.schema, display)], where=tests)

    def boss(self) -> QueryPlan | None:
        """Employees who earn more than their manager: a table that points to itself."""
        cue = self.cue("GT", "LT")
        if cue is None or self.dates:
            return None
        for relationship in self.schema.catalog.relationships:
            if relationship.from_table != relationship.to_table:
                continue
            table = self.schema.table_ids[relationship.from_table]
            names = {
                stem(word)
                for name in (relationship.name, *relationship.synonyms)
                for word in name.replace("_", " ").split()
            }
            said = [place for place, token in enumerate(self.scene.tokens) if token.stem in names and place > cue.start]
            column = self.compared_column(table)
            display = self.schema.tables[table].display
            if said and column is not None and display is not None:
                self.used.update(said)
                self.take(cue, *[m for m in self.tables() if m.id == table])
                return self._compared_with_other(relationship.name, table, column, display, cue)
        return None

    def _compared_with_other(self, relationship: str, table: int, column: int, display: int, cue: Cue) -> QueryPlan:
        name = self.schema.tables[table].name
        value = self.schema.columns[column].name
        link = next(r for r in self.schema.catalog.relationships if r.name == relationship)
        other = link.from_columns[0].lower().removesuffix("_id") or "other"
        other = f"other_{other}" if other in self.schema.table_ids else other
        on = tuple(
            (ColumnRef(table=name, column=here), ColumnRef(table=other, column=there))
            for here, there in zip(link.from_columns, link.to_columns, strict=True)
        )
        return QueryPlan(
            entity=name,
            joins=(Join(table=name, alias=other, on=on),),
            select=(SelectItem(expr=column_ref(self.schema, display)),),
            where=Compare(
                left=ColumnRef(table=name, column=value),
                op=">" if cue.tag == "GT" else "<",
                right=ColumnRef(table=other, column=value),
            ),
        )


def _stems_of(view: ColumnView) -> set[str]:
    return {stem_ for variant in view.variants for stem_ in variant.stems}

"""People are shown by their full names: who asks for "students" does not ask for first names."""

from answerable.query.plan import QueryPlan, SelectItem
from answerable.reader.linking.scene import Scene
from answerable.reader.plans.draft_to_plan import column_ref

_SAID = 0.45
_PARTS = 2
_NAME_WORDS = frozenset({"name", "names", "surname", "surnames"})


def with_full_names(plan: QueryPlan, scene: Scene) -> QueryPlan:
    """The plan with all columns that name a row, where it shows only the first or last name and nobody asked for that
    part. A plan whose rows depend on what is shown (groups, sets, no repeats) stays as it is."""
    depends = plan.group_by or plan.distinct or plan.set_operation is not None
    if depends or not _NAME_WORDS.isdisjoint(scene.words):
        return plan
    schema = scene.schema
    said = {mention.id for mention in scene.links.columns if mention.score >= _SAID}
    shown = [item.expr for item in plan.select]
    for table in schema.tables:
        names = [column_ref(schema, column) for column in table.row_names]
        there = [ref for ref in names if ref in shown]
        if len(names) == _PARTS and len(there) == 1 and said.isdisjoint(table.row_names):
            place = shown.index(there[0])
            items = [item for item in plan.select if item.expr not in names]
            items[place:place] = [SelectItem(expr=ref) for ref in names]
            return plan.model_copy(update={"select": tuple(items)})
    return plan

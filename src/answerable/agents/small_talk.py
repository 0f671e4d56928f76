"""Small talk and questions about Answerable itself: what is said to them, from the catalog alone.

Only whole messages count. A message that asks for more than that, such as "hello, how many orders?", is a question.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from answerable.core.catalog import Catalog, Table
from answerable.core.words import name_words

Topic = Literal["greeting", "thanks", "identity", "help", "data"]

_TABLES, _COLUMNS = 8, 6
"""How many tables, and columns of each, are listed."""
_BOTS = "there|all|everyone|everybody|folks|team|again|answerable|bot|assistant|friend|you"
_GREETING = rf"(?:hi|hiya|hello|hey|howdy|greetings|good (?:morning|afternoon|evening|day))(?: (?:{_BOTS}))*"
_THANKS = (
    r"(?:many |ok |okay |great |perfect |cool |nice )*(?:thanks|thank you|thx|cheers|much appreciated)"
    r"(?: (?:a lot|so much|very much|again|a bunch|for (?:your|the) (?:help|answers?)|for that|for this))*"
)
_ABOUT_DATA = r"(?:data|information|tables?|datasets?|data ?sets?|sources?|data sources?|columns?|fields?)"
_WHOLE = r"(?:database|schema|data ?model|tables|columns|sources|datasets|data sources)"
_THE = "the|this|my|your|our"
_KIND = r"(?:kinds?|sorts?|types?) of"
_TOPICS: Mapping[Topic, Sequence[str]] = {
    "greeting": (_GREETING, r"how are you(?: doing)?(?: today)?", r"(?:whats|what is) up"),
    "thanks": (
        _THANKS,
        r"(?:ok|okay|great|perfect|cool|nice|awesome|excellent|well done|good job|got it|understood|wonderful)",
        r"(?:good ?bye|bye(?: bye)?|see you(?: later)?|good night)",
    ),
    "identity": (
        r"(?:who|what) (?:are|r) (?:you|u)(?: exactly)?",
        r"(?:what is|whats) (?:this|answerable|your name)(?: (?:thing|tool|app))?",
        r"are you (?:a |an )?(?:bot|ai|human|robot|person|real|machine|computer|chatbot|language model|model)",
        r"(?:please )?introduce yourself",
        r"tell me about yourself",
    ),
    "help": (
        r"(?:i need )?(?:some )?help(?: me)?",
        r"(?:can|could|how can|how do) you help(?: me)?(?: with(?: this)?)?",
        rf"what (?:{_KIND} )?(?:questions? |things? |else )?(?:can|could|may|should|do) (?:i|we) ask"
        rf"(?: you| here| about)?(?: (?:{_THE}) data)?",
        rf"what (?:{_KIND} )?(?:questions? |things? )?(?:can|could|do) you (?:do|answer)(?: for me| here)?",
        r"what (?:can|could) i do(?: here| with (?:this|you|it))?",
        r"how (?:does|do) (?:this|it|you|answerable) work",
        r"how (?:do|can|should) (?:i|we) (?:ask(?: a question| questions| you)?|use (?:this|it|you)|start|begin)",
        r"where (?:do|should) (?:i|we) (?:start|begin)",
        r"(?:(?:show|give) me |some |a few )*(?:example|sample)s?(?: questions?| queries)?",
        r"(?:lets )?get started",
        r"(?:suggest|suggestions)(?: (?:a |some )?questions?)?",
    ),
    "data": (
        rf"(?:what|which) (?:{_KIND} )?{_ABOUT_DATA} (?:do|can|did) (?:you|we|i|u) "
        r"(?:have|know|see|hold|offer|query|ask|use)(?: access to| here| about| in here| available)*",
        rf"(?:what|which) (?:{_KIND} )?{_ABOUT_DATA} (?:is|are|exist)(?: (?:there|available|here|in here|this))*",
        rf"(?:what|which) (?:{_KIND} )?{_ABOUT_DATA} (?:is|are) in (?:{_THE}) (?:data|database|source|file)",
        rf"(?:what is|whats) (?:in |inside )?(?:{_THE}) (?:data|database|dataset|data set|source)(?: about)?",
        r"(?:what is|whats) in (?:here|there|it)",
        r"what do you (?:know|have)(?: about)?",
        rf"(?:please )?(?:show|list|describe|explain)(?: me)?(?: all)?(?: (?:{_THE}|available))* {_WHOLE}",
        rf"(?:please )?(?:describe|explain|tell me about)(?: (?:{_THE}))* (?:data|dataset|source)",
        r"(?:the )?(?:schema|data ?model)",
    ),
}
_WHOLE_MESSAGES = {topic: re.compile("|".join(f"(?:{one})" for one in forms)) for topic, forms in _TOPICS.items()}
_LEAD = re.compile(rf"^(?:{_GREETING}|please|so|well|ok|okay|and|um) (?=\S)")
_TAIL = re.compile(rf" (?:please|then|now|{_THANKS})$")
_PLAIN = {"what's": "what is", "who's": "who is", "let's": "lets"}
_OPENINGS: Mapping[Topic, str] = {
    "greeting": "Hello. I answer questions about your data.",
    "thanks": "You are welcome.",
    "identity": (
        "I am Answerable. I answer questions about your data in plain words, and every answer shows the query, the "
        "rows and the sources that it stands on."
    ),
    "help": (
        "Ask in plain words: how many, totals, averages, the top ones, shares, changes over time, comparisons, with "
        "conditions and periods. Then follow up: by region, only this year, as a chart. A message that begins with "
        "SQL: runs as you wrote it."
    ),
    "data": "",
}


def topic_of(message: str) -> Topic | None:
    """What a message is about if it is small talk or a question about Answerable or its data as a whole. None for every
    other message."""
    text = _plain(message)
    for candidate in dict.fromkeys((text, _without_courtesy(text))):
        for topic, forms in _WHOLE_MESSAGES.items():
            if forms.fullmatch(candidate):
                return topic
    return None


def names_a_thing(message: str, catalog: Catalog) -> bool:
    """Whether a word of the message is the name of a table: in a restaurant's data, "tables" are not those of a
    database."""
    names = {" ".join(name_words(name)) for table in catalog.tables for name in _names(table)}
    return not names.isdisjoint(_plain(message).split())


def small_talk_answer(topic: Topic, catalog: Catalog, others: Sequence[str], *, has_examples: bool) -> str:
    """The reply to small talk. `others` are the names of sources that can be asked as well."""
    parts = [_OPENINGS[topic]]
    if topic == "data":
        parts = [_described(catalog), _other_sources(others)]
    elif topic != "thanks":
        parts.append(_about(catalog))
    parts.append("You can ask, for example:" if has_examples else "")
    return " ".join(filter(None, parts))


def _plain(message: str) -> str:
    lowered = message.lower().replace("’", "'")
    for short, long in _PLAIN.items():
        lowered = lowered.replace(short, long)
    return " ".join(re.sub(r"[^\w\s]|_", " ", lowered).split())


def _without_courtesy(text: str) -> str:
    before = None
    while before != text:
        before, text = text, _TAIL.sub("", _LEAD.sub("", text))
    return text


def _about(catalog: Catalog) -> str:
    return f"This data is about {_listed([_noun(table) for table in catalog.tables])}." if catalog.tables else ""


def _described(catalog: Catalog) -> str:
    if not catalog.tables:
        return "This source has no tables yet."
    count = len(catalog.tables)
    shown = [_table(table) for table in catalog.tables[:_TABLES]]
    more = f" and {count - _TABLES} more" if count > _TABLES else ""
    return f"There {'is one table' if count == 1 else f'are {count} tables'}: {'; '.join(shown)}{more}."


def _table(table: Table) -> str:
    rows = "" if table.row_count is None else f"{table.row_count:,} row{'' if table.row_count == 1 else 's'}, with "
    columns = [column.label or column.name.replace("_", " ") for column in table.columns]
    return f"{_noun(table)} ({rows}{_listed(columns, _COLUMNS)})"


def _other_sources(others: Sequence[str]) -> str:
    return f"Other sources that you can ask: {_listed(others)}." if others else ""


def _noun(table: Table) -> str:
    return table.label or table.name.replace("_", " ")


def _names(table: Table) -> tuple[str, ...]:
    return (table.name, *filter(None, (table.label,)), *table.synonyms)


def _listed(names: Sequence[str], most: int = _TABLES) -> str:
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")

"""What everyday words ask for: a class of names (earn: pay), people (who), a nation (Canadian), or nothing at all.

Every entry is a word that people use of any data of its kind, and never the word of one data set. A word names the
class of columns that it may mean; which of them is meant is left to the forms and the fitted models and, where they are
not sure, to the user.
"""

from functools import cache

from answerable.core.words import stem
from answerable.reader.linking.lexicon import GENERIC, STOPWORDS

_NAMES: dict[str, str] = {
    "pay": "salary wage pay income earning compensation bonus",
    "price": "price cost fee charge fare rate rent tariff",
    "money": "amount total price cost fee charge payment revenue sale income spend paid budget value fare rent premium "
    "donation fine toll",
    "sales": "sale revenue turnover amount total order invoice purchase quantity unit transaction fare fee",
    "orders": "order purchase booking reservation invoice transaction sale",
    "stays": "reservation booking stay checkin rental",
    "quantity": "quantity amount unit count number stock",
    "size": "size area population capacity mass weight length height volume enrollment floor space width",
    "weight": "weight mass",
    "length": "length duration distance height time hour minute second milliseconds runtime mile kilometer "
    "night downtime",
    "time": "date time year day month",
    "start": "start begin open launch found join hire signup registration register date",
    "age": "age birth birthday born dob",
    "speed": "speed velocity time pace lap",
    "temperature": "temperature temp degree",
    "rain": "rain rainfall precipitation wet",
    "wind": "wind windspeed gust",
    "score": "score rating star rank ranking point grade mark stars satisfaction review gpa",
    "rank": "rank ranking position place score rating",
    "crowd": "attendance visitor passenger capacity population audience traffic guest",
    "people": "person people customer employee student member user staff passenger guest patient population",
    "kids": "child kid student pupil",
    "staff": "employee staff worker member person",
    "place": "city country location state region address place town venue street hometown island area store branch "
    "club site office warehouse neighbourhood neighborhood county",
    "home": "address city residence home country",
    "kind": "type category kind class species genre segment group",
    "results": "result outcome win loss status score",
    "grade": "grade class level mark",
    "event": "event match game competition race tournament",
    "work": "job title position occupation role department company",
    "trouble": "complaint ticket issue problem incident claim",
    "delay": "delay late",
    "name": "name title",
    "goods": "product item article good",
    "contact": "phone email telephone address contact",
    "boss": "manager supervisor head boss",
    "gift": "donation endowment gift donor donator",
    "distance": "distance mileage mile kilometer length",
    "highest": "max maximum high peak",
    "lowest": "min minimum low",
    "change": "change growth delta difference gain",
}
"""For each class, words of the names that columns and tables of the class have."""

_WORDS: dict[str, str] = {
    "pay": "earn earns earned earner earners earning paid pays wages salaries payroll paycheck makes",
    "price": "cheap cheaper cheapest cheaply pricey pricier priciest dear dearest expensive costly costliest cost "
    "costs affordable price priced prices sell sells charge charged",
    "money": "spend spends spent spender spenders spending money worth bill billed bills paid pay pays paying cost "
    "costs earn earned make made takings income expense expenses cash dollars euros pounds bucks funds raised gave "
    "give richest rich collect collected owe owes owed",
    "sales": "sold sell sells selling seller sellers sales bought buy buys buying purchased revenue turnover income "
    "takings ordered orders business performing bestseller",
    "orders": "bought buy buys ordered booked booking bookings booker purchase purchased buyers placed shopping spent",
    "stays": "stay stays stayed staying booked bookings checkin checkins checked",
    "quantity": "units pieces copies many quantity",
    "size": "big bigger biggest large larger largest small smaller smallest huge tiny size sizes roomy spacious hold "
    "holds fits sleep sleeps seats space room",
    "weight": "weigh weighs weighed weighing heavy heavier heaviest light lighter lightest fat fattest",
    "length": "long longer longest short shorter shortest lasts last lasted duration lengthy",
    "time": "when recent recently latest newest earliest oldest ago lately",
    "start": "began begun begin started starts start opened opens open launched launch founded joined join hired hire "
    "kicked signed signup registered established newest",
    "age": "old older oldest young younger youngest age aged",
    "speed": "fast faster fastest slow slower slowest quick quicker quickest speedy",
    "temperature": "hot hotter hottest warm warmer warmest cold colder coldest cool coolest freezing chilly",
    "rain": "rain rained rains rainy rainiest wet wetter wettest dry driest rainfall",
    "wind": "windy windier windiest windiness stormy",
    "score": "best better worst worse rated rating ratings rate score scores scored good bad popular favourite "
    "favorite liked loved satisfied happy happiest harshest",
    "rank": "ranked rank best worst top",
    "crowd": "busy busier busiest quiet quietest crowded crowd crowds visitors audience traffic attended popular drew "
    "people riders",
    "people": "people folks persons guys somebody anyone anybody everyone everybody individuals humans users clients",
    "kids": "kids kid children child pupils pupil students",
    "staff": "staff team colleagues workers workforce personnel crew headcount reps rep employees employed",
    "place": "where place places town towns city cities somewhere located location locations nation nations abroad "
    "borough boroughs venue venues spot spots",
    "home": "live lives lived living resident residents home homes based hometown",
    "kind": "kind kinds type types sort sorts category categories class",
    "results": "won win wins winner winners lost lose loses losing passed pass failed fail fails outcome",
    "grade": "grade grades grader graders marks mark level",
    "event": "game games match matches race races contest competition event events",
    "work": "job jobs work works profession career occupation position",
    "trouble": "complain complains complained complaint complaints problems issues trouble",
    "delay": "late delayed delay delays punctual",
    "name": "called named name names title titles titled",
    "goods": "thing things stuff product products item items article articles goods sell",
    "contact": "contact reach call phone email",
    "boss": "boss bosses manager managers supervisor leads",
    "gift": "donated donation donations donor donors gift gifts gave",
    "distance": "far farther farthest furthest distance near nearest miles",
    "highest": "high highs peak peaks",
    "lowest": "low lows",
    "change": "drop drops dropped fall falls fell decline declined decrease decreased increase increased rise rose "
    "gain gained grew growth",
}
"""For each class, the everyday words that ask for it."""

_PERSONS = "who who's whos whom whose anyone anybody everyone everybody somebody someone people folks persons"
PERSON_WORDS = frozenset(_PERSONS.split())
"""Words that ask for people, whatever people are called in the data."""

_CONNECTING = """
stop stops stopped carry carries carried host hosts hosted handle handles handled deal deals dealt take takes taking
took run runs ran go goes going went get gets getting got lead leads led keep keeps kept give gives gave given
hold holds held stay stays stayed use uses used play plays played make makes made come comes came bring brings
brought put serve serves served offer offers offered belong belongs own owns owned attend attends attended visit visits
visited
"""
CONNECTING_VERBS = frozenset(_CONNECTING.split())
"""Verbs that say no more than that two things belong together: stations where no train *stops*."""

TYPICAL = frozenset({"usually", "typical", "typically", "normally", "usual"})
"""Words that ask for an average."""

ASKING_FOR_PEOPLE = frozenset({"who", "who's", "whos", "whose", "anyone", "anybody", "people"})
"""First words of questions whose answer is the names of people."""

_EMPTY = """
average mean median total sum share percent percentage fraction proportion ratio difference compare compared comparison
versus vs trend overall usual usually typical typically normal normally actual actually really exactly roughly about
january february march april may june july august september october november december monday tuesday wednesday thursday
friday saturday sunday spring summer autumn fall winter today yesterday tomorrow week weeks weekend quarter
got gets getting let lets want wanted need needs like likes look looking think thought say says said mean means
break breaks broken split down up out off over back far anything something nothing everything whole lot lots bit plus
minus half double twice once again ever yet still even only please thanks thank hello hi hey ok okay whats thats
us them theirs ours mine earth higher lower highest lowest most least more less fewer fewest first last next previous
better worse worst best top bottom biggest largest smallest greatest change changed changing going goes went come comes
came happen happened counted recorded observed seen year years month months day days date dates time times each every
per number numbers count counts favourite favorite favourites favorites
"""
_NO_LINK = frozenset(_EMPTY.split()) | STOPWORDS | GENERIC


def needs_no_link(word: str) -> bool:
    """Words that say what to do with the data, when, or nothing: they are not compared with names by meaning."""
    return word in _NO_LINK or len(word) < 3


@cache
def _everyday() -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for kind, words in _WORDS.items():
        for word in words.split():
            found.setdefault(word, {}).update(dict.fromkeys(map(stem, _NAMES[kind].split())))
    return {word: tuple(names) for word, names in found.items()}


def everyday_words() -> frozenset[str]:
    return frozenset(_everyday())


def everyday_names(word: str, stemmed: str) -> tuple[str, ...]:
    """Stems of the names that an everyday word may mean, apart from the word itself."""
    return tuple(name for name in _everyday().get(word, ()) if name != stemmed)


_NATIONS = """
afghan:Afghanistan albanian:Albania algerian:Algeria american:USA|United_States|US argentine:Argentina
argentinian:Argentina armenian:Armenia australian:Australia austrian:Austria azerbaijani:Azerbaijan
bangladeshi:Bangladesh belarusian:Belarus belgian:Belgium bolivian:Bolivia bosnian:Bosnia brazilian:Brazil
british:United_Kingdom|UK|Britain|England bulgarian:Bulgaria cambodian:Cambodia canadian:Canada chilean:Chile
chinese:China colombian:Colombia croatian:Croatia cuban:Cuba cypriot:Cyprus czech:Czechia|Czech_Republic
danish:Denmark dutch:Netherlands|Holland ecuadorian:Ecuador egyptian:Egypt english:England|United_Kingdom|UK
estonian:Estonia ethiopian:Ethiopia finnish:Finland french:France georgian:Georgia german:Germany ghanaian:Ghana
greek:Greece guatemalan:Guatemala hungarian:Hungary icelandic:Iceland indian:India indonesian:Indonesia iranian:Iran
iraqi:Iraq irish:Ireland israeli:Israel italian:Italy jamaican:Jamaica japanese:Japan jordanian:Jordan kenyan:Kenya
korean:South_Korea|Korea kuwaiti:Kuwait latvian:Latvia lebanese:Lebanon lithuanian:Lithuania luxembourgish:Luxembourg
malaysian:Malaysia maltese:Malta mexican:Mexico moroccan:Morocco nepalese:Nepal nigerian:Nigeria norwegian:Norway
pakistani:Pakistan panamanian:Panama paraguayan:Paraguay peruvian:Peru filipino:Philippines polish:Poland
portuguese:Portugal qatari:Qatar romanian:Romania russian:Russia saudi:Saudi_Arabia scottish:Scotland serbian:Serbia
singaporean:Singapore slovak:Slovakia slovenian:Slovenia spanish:Spain swedish:Sweden swiss:Switzerland syrian:Syria
taiwanese:Taiwan thai:Thailand tunisian:Tunisia turkish:Turkey ukrainian:Ukraine uruguayan:Uruguay
venezuelan:Venezuela vietnamese:Vietnam welsh:Wales us:USA|United_States usa:US|United_States
america:USA|United_States|US uk:United_Kingdom|Britain|GB britain:United_Kingdom|UK states:USA|United_States
holland:Netherlands
"""


@cache
def _nations() -> dict[str, tuple[str, ...]]:
    pairs = (pair.split(":") for pair in _NATIONS.split())
    return {word: tuple(name.replace("_", " ") for name in names.split("|")) for word, names in pairs}


def nations_of(word: str) -> tuple[str, ...]:
    """The countries that a word such as "Norwegian", "Norwegians" or "US" stands for, as data may spell them."""
    return _nations().get(word) or _nations().get(word.removesuffix("s") if len(word) > 4 else word, ())

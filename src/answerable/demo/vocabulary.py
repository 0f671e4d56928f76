"""Names, places and goods of the demo company, an outdoor shop with twelve stores in Europe."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class City:
    name: str
    country: str
    region: str
    yearly_growth: float
    """The factor by which sales grow from one year to the next."""
    orders_per_day: float
    """In January 2023."""


CITIES = (
    City("Oslo", "Norway", "North", 1.04, 0.95),
    City("Göteborg", "Sweden", "North", 1.02, 0.70),
    City("København", "Denmark", "North", 1.06, 0.85),
    City("Amsterdam", "Netherlands", "West", 1.12, 0.80),
    City("Rotterdam", "Netherlands", "West", 1.09, 0.45),
    City("Köln", "Germany", "West", 1.15, 0.75),
    City("Lyon", "France", "South", 1.31, 0.50),
    City("Málaga", "Spain", "South", 1.24, 0.35),
    City("Torino", "Italy", "South", 1.27, 0.40),
    City("Kraków", "Poland", "East", 0.93, 0.60),
    City("Brno", "Czechia", "East", 0.90, 0.40),
    City("Győr", "Hungary", "East", 0.97, 0.30),
)

TOWNS = {
    "Norway": ("Oslo", "Bergen", "Drammen", "Tromsø"),
    "Sweden": ("Göteborg", "Malmö", "Borås", "Lund"),
    "Denmark": ("København", "Roskilde", "Odense", "Helsingør"),
    "Netherlands": ("Amsterdam", "Rotterdam", "Utrecht", "Leiden"),
    "Germany": ("Köln", "Bonn", "Düsseldorf", "Aachen"),
    "France": ("Lyon", "Grenoble", "Saint-Étienne", "Annecy"),
    "Spain": ("Málaga", "Córdoba", "Granada", "Cádiz"),
    "Italy": ("Torino", "Genova", "Asti", "Cuneo"),
    "Poland": ("Kraków", "Łódź", "Katowice", "Tarnów"),
    "Czechia": ("Brno", "Olomouc", "Zlín", "Jihlava"),
    "Hungary": ("Győr", "Sopron", "Pécs", "Tatabánya"),
}

FIRST_NAMES = {
    "Norway": ("Ingrid", "Lars", "Sølvi", "Håkon", "Nora", "Jonas", "Åse", "Erik"),
    "Sweden": ("Elsa", "Oskar", "Åsa", "Göran", "Maja", "Nils", "Linnéa", "Björn"),
    "Denmark": ("Freja", "Søren", "Ida", "Mads", "Karen", "Jørgen", "Anna", "Rasmus"),
    "Netherlands": ("Sanne", "Daan", "Lotte", "Bram", "Femke", "Joost", "Eva", "Ruben"),
    "Germany": ("Lena", "Jürgen", "Mia", "Björn", "Käthe", "Felix", "Sophie", "Jonas"),
    "France": ("Chloé", "Hugo", "Zoé", "Rémi", "Inès", "François", "Anaïs", "Jules"),
    "Spain": ("Lucía", "Álvaro", "Sofía", "José", "Martina", "Íñigo", "Núria", "Pablo"),
    "Italy": ("Giulia", "Nicolò", "Sara", "Matteo", "Chiara", "Andrea", "Anna", "Luca"),
    "Poland": ("Zofia", "Paweł", "Hanna", "Łukasz", "Maja", "Jakub", "Małgorzata", "Adam"),
    "Czechia": ("Eliška", "Jiří", "Anna", "Tomáš", "Tereza", "Ondřej", "Věra", "Adam"),
    "Hungary": ("Réka", "Bence", "Zsófia", "Gergő", "Anna", "Máté", "Eszter", "Ádám"),
}

LAST_NAMES = {
    "Norway": ("Hansen", "Berg", "Ødegård", "Lund", "Nilsen", "Haugen", "Bakke", "Solberg"),
    "Sweden": ("Andersson", "Lindqvist", "Öberg", "Sjöström", "Berg", "Nyström", "Ek", "Dahl"),
    "Denmark": ("Jensen", "Sørensen", "Holm", "Kjær", "Møller", "Lund", "Bach", "Thomsen"),
    "Netherlands": ("de Vries", "Jansen", "Bakker", "van Dijk", "Visser", "Smit", "Mulder", "de Boer"),
    "Germany": ("Müller", "Schäfer", "Köhler", "Weber", "Jäger", "Vogt", "Krüger", "Lange"),
    "France": ("Lefèvre", "Moreau", "Béranger", "Dupont", "Gauthier", "Hébert", "Roux", "Noël"),
    "Spain": ("García", "Muñoz", "Ibáñez", "Ruiz", "Ortega", "Núñez", "Vidal", "Peña"),
    "Italy": ("Rossi", "Bianchi", "Ferrari", "Greco", "Conti", "Marino", "Fontana", "De Luca"),
    "Poland": ("Nowak", "Wiśniewski", "Wójcik", "Zając", "Krawczyk", "Król", "Piątek", "Sobczak"),
    "Czechia": ("Novák", "Dvořák", "Černý", "Procházka", "Kučera", "Veselý", "Horák", "Němec"),
    "Hungary": ("Nagy", "Kovács", "Tóth", "Szabó", "Horváth", "Varga", "Kiss", "Molnár"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """A category of goods."""

    category: str
    season: tuple[float, ...]
    """How well it sells in each month, January first."""
    goods: tuple[tuple[str, float], ...]
    """Names and prices."""


_SUMMER = (0.4, 0.5, 0.8, 1.2, 1.6, 2.0, 1.9, 1.5, 0.9, 0.6, 0.5, 0.7)
_WINTER = (2.0, 1.6, 1.0, 0.4, 0.2, 0.1, 0.1, 0.2, 0.5, 1.1, 1.9, 2.4)
_EVEN = (0.9, 0.9, 1.0, 1.0, 1.0, 1.0, 0.9, 0.9, 1.0, 1.0, 1.1, 1.4)

LINES = (
    Line(
        "Camping",
        _SUMMER,
        (
            ("Fjell 2 Tent", 289.0),
            ("Fjell 4 Tent", 459.0),
            ("Summit Sleeping Bag", 179.0),
            ("Meadow Sleeping Bag", 89.0),
            ("Trail Stove", 59.9),
            ("Camp Lantern", 34.5),
            ("Folding Chair", 44.9),
            ("Air Mattress", 74.0),
            ("Cook Set", 49.9),
            ("Storm Tarp", 64.0),
        ),
    ),
    Line(
        "Footwear",
        _EVEN,
        (
            ("Ridge Hiking Boots", 189.0),
            ("Valley Walking Shoes", 119.0),
            ("Brook Sandals", 69.0),
            ("Glacier Winter Boots", 219.0),
            ("Pace Trail Runners", 139.0),
            ("Merino Socks", 18.9),
            ("Boot Wax", 9.5),
            ("Gaiters", 39.0),
        ),
    ),
    Line(
        "Clothing",
        _EVEN,
        (
            ("Drizzle Rain Jacket", 149.0),
            ("Peak Down Jacket", 279.0),
            ("Base Layer Top", 59.0),
            ("Base Layer Pants", 54.0),
            ("Trek Trousers", 99.0),
            ("Wool Hat", 24.9),
            ("Softshell Gloves", 39.9),
            ("Sun Cap", 22.0),
            ("Fleece Pullover", 79.0),
            ("Children's Rain Suit", 69.0),
        ),
    ),
    Line(
        "Climbing",
        _SUMMER,
        (
            ("Granite Harness", 74.0),
            ("Dynamic Rope 60 m", 169.0),
            ("Chalk Bag", 19.9),
            ("Carabiner Set", 42.0),
            ("Boulder Mat", 199.0),
            ("Climbing Helmet", 69.0),
            ("Belay Device", 34.0),
            ("Crux Climbing Shoes", 129.0),
        ),
    ),
    Line(
        "Winter Sports",
        _WINTER,
        (
            ("Tour Skis", 489.0),
            ("Cross-country Skis", 299.0),
            ("Ski Poles", 59.0),
            ("Snowshoes", 149.0),
            ("Avalanche Beacon", 269.0),
            ("Ski Goggles", 89.0),
            ("Sledge", 54.0),
            ("Hand Warmers", 7.9),
        ),
    ),
    Line(
        "Cycling",
        _SUMMER,
        (
            ("Gravel Bike", 1349.0),
            ("Bike Panniers", 119.0),
            ("Cycling Helmet", 84.0),
            ("Bike Light Set", 49.0),
            ("Tyre Repair Kit", 14.9),
            ("Cycling Jersey", 64.0),
            ("Floor Pump", 39.0),
        ),
    ),
    Line(
        "Backpacks",
        _EVEN,
        (
            ("Daybreak 20 Backpack", 89.0),
            ("Expedition 65 Backpack", 239.0),
            ("Child Carrier", 259.0),
            ("Dry Bag", 29.0),
            ("Hip Pack", 34.0),
            ("Rain Cover", 24.0),
        ),
    ),
    Line(
        "Navigation",
        _EVEN,
        (
            ("Handheld GPS", 349.0),
            ("Compass", 29.9),
            ("Altimeter Watch", 289.0),
            ("Binoculars", 159.0),
            ("Head Torch", 44.0),
        ),
    ),
)

BRANDS = ("Nordhavn", "Alder & Sons", "Fonn", "Tramontane", "Kestrel")

UNSOLD = (
    ("Ice Axe", "Climbing", 119.0),
    ("Packraft", "Camping", 749.0),
    ("Telemark Bindings", "Winter Sports", 319.0),
    ("Cargo Trailer", "Cycling", 429.0),
)
"""Products in the catalogue that nobody orders."""

TICKET_TOPICS = (
    ("Delivery", 0.34),
    ("Returns", 0.22),
    ("Damaged goods", 0.14),
    ("Billing", 0.12),
    ("Product question", 0.18),
)

"""Units of numbers in questions: 50 thousand, 5 kg."""

SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12, "grand": 10**3}
"""Words after a number, with what they multiply it by."""

UNITS = {
    **dict.fromkeys(("kg", "kilo", "kilos", "kilogram", "kilograms"), ("g", 1000)),
    **dict.fromkeys(("cm", "centimeters", "centimetres"), ("mm", 10)),
    **dict.fromkeys(("km", "kilometers", "kilometres"), ("m", 1000)),
    **dict.fromkeys(("hour", "hours"), ("min", 60)),
    **dict.fromkeys(("minute", "minutes", "mins"), ("ms", 60_000)),
    **dict.fromkeys(("second", "seconds", "secs"), ("ms", 1_000)),
}
"""Units of questions, with the smaller unit that a column may be in and how many of those one is."""

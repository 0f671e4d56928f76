"""Text that is safe to print on a terminal."""

_PRINTED_AS_IT_IS = "\n\t\u00a0\u2009\u202f"
"""Line breaks, tabs, and the spaces of numbers and units."""


def printable(text: str) -> str:
    """Shows a dot for each control character instead of obeying it. Text from data could otherwise change what a
    terminal shows, its title or its clipboard, or reverse the order of what follows."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in _PRINTED_AS_IT_IS else "·" for c in text.replace("\r\n", "\n"))

"""`python scripts/okta_event_types.py event-types.json`: writes the event types of Okta's log, by category, as the
package ships them, from the list that Okta publishes."""

import json
import sys
from collections import Counter
from pathlib import Path

TARGET = Path(__file__).parents[1] / "src" / "answerable" / "okta" / "data" / "event_types.json"
LONGEST = 160
FEWEST = 3
"""So many events make a category of their own: `user.session`. Others go with the first word of their names."""


def main() -> None:
    published = json.loads(Path(sys.argv[1]).read_text("utf-8"))["versions"][0]["eventTypes"]
    events = sorted((each for each in published if not each["internal"]), key=lambda each: each["id"])
    sizes = Counter(_pair(each["id"]) for each in events)
    categories: dict[str, dict[str, str]] = {}
    for event in events:
        pair, (first, *_) = _pair(event["id"]), event["id"].split(".")
        category = pair if sizes[pair] >= FEWEST else first
        categories.setdefault(category, {})[event["id"]] = _first_sentence(event["description"] or "")
    TARGET.write_text(json.dumps(dict(sorted(categories.items())), indent=1, ensure_ascii=False) + "\n", "utf-8")


def _pair(event: str) -> str:
    return "-".join(event.split(".")[:2])


def _first_sentence(text: str) -> str:
    return text.partition(". ")[0].strip().rstrip(".")[:LONGEST]


if __name__ == "__main__":
    main()

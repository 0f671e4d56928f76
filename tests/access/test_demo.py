"""Three people ask the same question, and rightly get three answers."""

import json
import re
from pathlib import Path

from click.testing import CliRunner

from answerable import demo
from answerable.cli.main import cli


def test_three_people_get_three_answers() -> None:
    shown = CliRunner().invoke(cli, ["demo", "access", "--json"])
    assert shown.exit_code == 0, shown.output
    answers = json.loads(shown.stdout)
    assert [each["user"] for each in answers] == ["nora", "erik", "lotte"] * 2
    everything, north, west_and_south = (int(each["text"].split()[0].replace(",", "")) for each in answers[:3])
    assert everything > west_and_south > north > 0
    assert [each["status"] for each in answers[3:]] == ["done", "refused", "refused"]
    assert all("by rule 'no-staff'" in each["text"] for each in answers[4:])


def test_the_rules_are_those_of_the_guide() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "access.md").read_text()
    example = re.search(r"```yaml\n(.*?)```", guide, re.DOTALL)
    assert example is not None
    assert demo.access_rules().read_text() == example[1]

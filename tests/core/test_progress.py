"""Progress that is passed on: a few reports per second, none of quick work."""

from answerable.core.progress import throttled


def test_quick_work_reports_nothing_and_long_work_a_few_times_a_second() -> None:
    heard: list[str] = []
    clock = [100.0]
    report = throttled(lambda message, _done, _total: heard.append(message), lambda: clock[0])
    for tenth in range(30):
        clock[0] = 100 + tenth / 10
        report(f"{tenth}", tenth, 30)
    assert heard == ["5", "8", "11", "14", "17", "20", "23", "26", "29"]

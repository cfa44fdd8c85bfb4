"""docs/engines.md shows what the last runs of the matrix kept, and nothing else."""

import sys

from env.cache import PROJECT

sys.path.insert(0, str(PROJECT / "tests" / "engines"))

from matrix import page, steps


def test_the_page_shows_the_kept_results():
    assert page.PAGE.read_text() == page.rewritten(steps.load()), "run: make engines-page"


def test_a_failure_outweighs_a_success_and_a_success_what_is_missing():
    lines = [
        {"step": "insert", "result": "absent", "message": "a"},
        {"step": "insert", "result": "pass"},
        {"step": "delete", "result": "pass"},
        {"step": "delete", "result": "fail", "message": "b"},
        {"step": "update", "result": "fault", "message": "c"},
        {"step": "update", "result": "pass"},
    ]
    merged = [(line["result"], line["message"]) for line in steps.merged(lines)]
    assert merged == [("pass", "a"), ("fail", "b"), ("fault", "c")]

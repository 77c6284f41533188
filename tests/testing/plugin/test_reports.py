"""Reports of explorations and campaigns in pytest's output."""

import pytest

import sampan.testing.pytest_session  # noqa: F401  # as in test_plugin.py

pytest_plugins = ["pytester"]

FLAGS = ("-p", "no:cacheprovider", "-p", "sampan.pytest_plugin", "-p", "no:asyncio")
REPORT = """
from sampan.testing.explore import Report
from sampan.testing.campaign import CampaignReport

def test_it():
    report, other = Report("life_of_a_boat", survivors=["configmaps/default/mei"]), CampaignReport("boats")
    assert {}
"""


def test_a_failed_test_shows_the_reports_in_its_variables(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(REPORT.format("not report.survivors, report"))
    result = pytester.runpytest_inprocess(*FLAGS)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "-* exploration -*",
            "life_of_a_boat: 0 plans in *",
            "note: configmaps/default/mei outlives *",
            "-* campaign -*",
        ]
    )


def test_a_passed_test_shows_no_report(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(REPORT.format("report"))
    result = pytester.runpytest_inprocess(*FLAGS, "-rA")
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("-* exploration -*")

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


FAILED = """
from sampan.testing import NotSettled

def test_it():
    raise {}("the operator writes again and again")
"""


@pytest.mark.parametrize(("error", "times"), [("NotSettled", 1), ("ValueError", 0)])
def test_an_error_of_sampan_shows_the_command_that_explains_it(
    pytester: pytest.Pytester, error: str, times: int
) -> None:
    pytester.makepyfile(FAILED.format(error))
    result = pytester.runpytest_inprocess(*FLAGS)
    result.assert_outcomes(failed=1)
    lines = [each for each in result.outlines if each.startswith("E ")]
    assert sum("sampan errors NotSettled explains the error" in each for each in lines) == times

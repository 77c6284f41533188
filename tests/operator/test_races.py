"""Races of controllers are no errors: they are logged in one line, at level info; faults keep their traceback."""

import asyncio
import logging

import pytest

from sampan.client.errors import api_error
from sampan.operator import Request, RetryLater
from sampan.operator.controller.context import ReconcileContext
from sampan.operator.controller.failure_log import FailureLog
from sampan.operator.failures.error_text import is_race
from sampan.testing.time.virtual_time import run_virtual


def refused(code: int, reason: str, cause: str = "") -> Exception:
    details = {"causes": [{"reason": cause}]} if cause else {}
    return api_error({"code": code, "reason": reason, "message": "m", "details": details})


RACES = {
    "already exists": refused(409, "AlreadyExists"),
    "conflict": refused(409, "Conflict"),
    "not found": refused(404, "NotFound"),
    "namespace ends": refused(403, "Forbidden", "NamespaceTerminating"),
    "not yet": RetryLater("the owner is gone"),
    "group of races": ExceptionGroup("", [refused(409, "Conflict"), refused(404, "NotFound")]),
}
REFUSALS = {
    "forbidden": refused(403, "Forbidden"),
    "invalid": refused(422, "Invalid"),
    "down": refused(503, "ServiceUnavailable"),
    "cut": ConnectionResetError("reset"),
}
FAULTS = {
    "fault": KeyError("name"),
    "assertion": AssertionError(),
    "group with a fault": ExceptionGroup("", [refused(409, "Conflict"), TypeError("x")]),
}


async def record_of(
    caplog: pytest.LogCaptureFixture, error: Exception, *, retry_s: float | None = 1.0
) -> logging.LogRecord:
    """The record of a failure."""
    assert asyncio.get_running_loop()
    with caplog.at_level(logging.INFO, "sampan.controller"):
        FailureLog().failed(ReconcileContext("c", Request("n", "ns"), "id", 0), error, retry_s)
    [record] = caplog.records
    assert "\n" not in record.getMessage()
    return record


@pytest.mark.parametrize("error", RACES.values(), ids=RACES)
async def test_a_race_is_logged_as_information(caplog: pytest.LogCaptureFixture, error: Exception) -> None:
    record = await record_of(caplog, error)
    assert (record.levelno, record.exc_info, is_race(error)) == (logging.INFO, None, True)


@pytest.mark.parametrize("error", REFUSALS.values(), ids=REFUSALS)
async def test_the_first_refusal_is_information(caplog: pytest.LogCaptureFixture, error: Exception) -> None:
    record = await record_of(caplog, error)
    assert (record.levelno, record.exc_info, is_race(error)) == (logging.INFO, None, False)


@pytest.mark.parametrize("error", REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_that_lasts_is_one_warning_a_minute(caplog: pytest.LogCaptureFixture, error: Exception) -> None:
    async def fail_for(seconds: int) -> None:
        log, context = FailureLog(), ReconcileContext("c", Request("n", "ns"), "id", 0)
        for _ in range(seconds):
            log.failed(context, error, 1.0)
            await asyncio.sleep(1)

    with caplog.at_level(logging.INFO, "sampan.controller"):
        run_virtual(fail_for(65))
    assert [record.levelname for record in caplog.records] == ["INFO", "WARNING"]


@pytest.mark.parametrize("error", REFUSALS.values(), ids=REFUSALS)
async def test_a_refusal_that_is_not_retried_is_an_error(caplog: pytest.LogCaptureFixture, error: Exception) -> None:
    record = await record_of(caplog, error, retry_s=None)
    assert (record.levelno, record.exc_info) == (logging.ERROR, None)


@pytest.mark.parametrize("error", FAULTS.values(), ids=FAULTS)
async def test_a_fault_of_the_program_keeps_its_traceback(caplog: pytest.LogCaptureFixture, error: Exception) -> None:
    record = await record_of(caplog, error)
    assert (record.levelno, bool(record.exc_info), is_race(error)) == (logging.ERROR, True, False)

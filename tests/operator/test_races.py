"""Races of controllers are no errors: they are logged in one line, at level info; faults keep their traceback."""

import asyncio
import logging

import pytest

from sampan.client.errors import api_error
from sampan.operator import Request, RetryLater
from sampan.operator.controller.context import ReconcileContext
from sampan.operator.controller.failure_log import FailureLog
from sampan.operator.error_text import is_race


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


async def record_of(caplog: pytest.LogCaptureFixture, error: Exception) -> logging.LogRecord:
    """The record of a failure."""
    assert asyncio.get_running_loop()
    with caplog.at_level(logging.INFO, "sampan.controller"):
        FailureLog().failed(ReconcileContext("c", Request("n", "ns"), "id", 0), error, 1.0)
    [record] = caplog.records
    assert "\n" not in record.getMessage()
    return record


@pytest.mark.parametrize("error", RACES.values(), ids=RACES)
async def test_a_race_is_logged_as_information(caplog: pytest.LogCaptureFixture, error: Exception) -> None:
    record = await record_of(caplog, error)
    assert (record.levelno, record.exc_info, is_race(error)) == (logging.INFO, None, True)


@pytest.mark.parametrize("error", REFUSALS.values(), ids=REFUSALS)
async def test_a_refusal_is_an_error_without_a_traceback(caplog: pytest.LogCaptureFixture, error: Exception) -> None:
    record = await record_of(caplog, error)
    assert (record.levelno, record.exc_info, is_race(error)) == (logging.ERROR, None, False)


@pytest.mark.parametrize("error", FAULTS.values(), ids=FAULTS)
async def test_a_fault_of_the_program_keeps_its_traceback(caplog: pytest.LogCaptureFixture, error: Exception) -> None:
    record = await record_of(caplog, error)
    assert (record.levelno, bool(record.exc_info), is_race(error)) == (logging.ERROR, True, False)

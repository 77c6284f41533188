"""The log of an operator's process."""

import json
import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest

from sampan.core.telemetry.log_settings import LogSettings
from sampan.operator import OperatorSettings, ReconcileContext, Request
from sampan.operator.controller.context import CURRENT_RECONCILE
from sampan.operator.process.log import set_up_log

BOAT = ReconcileContext("boats", Request("default", "junk"), "1234")


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    yield
    root.handlers[:] = before
    root.setLevel(level)


def set_up(level: str = "info", *levels: tuple[str, str]) -> None:
    set_up_log(replace(OperatorSettings(), log=LogSettings(level, "json"), log_levels=levels))


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_records_of_a_reconcile_name_controller_and_object(capsys: pytest.CaptureFixture[str]) -> None:
    set_up()
    token = CURRENT_RECONCILE.set(BOAT)
    logging.getLogger("harbour").info("launched")
    CURRENT_RECONCILE.reset(token)
    logging.getLogger("harbour").info("idle")
    first, second = lines(capsys)
    assert (first["controller"], first["request"], first["reconcile_id"]) == ("boats", "default/junk", "1234")
    assert "controller" not in second
    assert second["time"].endswith("Z")


def test_a_controller_and_a_logger_have_separate_levels(capsys: pytest.CaptureFixture[str]) -> None:
    set_up("warning", ("boats", "debug"), ("sampan.client", "info"))
    token = CURRENT_RECONCILE.set(BOAT)
    logging.getLogger("harbour").debug("controller")
    CURRENT_RECONCILE.reset(token)
    logging.getLogger("harbour").info("dropped")
    logging.getLogger("sampan.client.watching.watch").info("logger")
    logging.getLogger("sampan.client.watching.watch").debug("dropped")
    logging.getLogger("other").warning("base")
    assert [line["msg"] for line in lines(capsys)] == ["controller", "logger", "base"]

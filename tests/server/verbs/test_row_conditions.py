"""Conditions of whole rows in Tables."""

from typing import Any

import pytest

from tests.server.cluster import Api
from tests.server.verbs.objects import PODS, TABLE, pod

_ENDED = {"type": "Completed", "status": "True"}


@pytest.mark.parametrize(
    ("phase", "conditions"),
    [
        ("Succeeded", [{**_ENDED, "reason": "Succeeded", "message": "The pod has completed successfully."}]),
        ("Failed", [{**_ENDED, "reason": "Failed", "message": "The pod failed."}]),
        ("Running", None),
    ],
)
@pytest.mark.parametrize("include", ["Metadata", "Object", "None"])
async def test_rows_of_pods_report_that_they_have_come_to_an_end(
    api: Api, include: str, phase: str, conditions: list[Any] | None
) -> None:
    await api.create(PODS, pod())
    await api.patch(f"{PODS}/p/status", {"status": {"phase": phase}})
    table = (await api.get(f"{PODS}?includeObject={include}", accept=TABLE)).body
    assert table["rows"][0].get("conditions") == conditions

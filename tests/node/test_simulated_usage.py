"""Simulated resource usage."""

import logging

import pytest

from sampan.node.simulated.annotations import script_of


@pytest.mark.parametrize(
    ("annotations", "cpu", "memory"),
    [
        ({"sampan.dev/cpu": "250m", "sampan.dev/memory": "64Mi"}, 0.25, 64 * 2**20),
        ({"sampan.dev/cpu": "2"}, 2.0, 0.0),
        ({"sampan.dev/memory": "20Gi"}, 0.0, 20 * 2**30),
        ({"sampan.dev/cpu": "-1"}, 0.0, 0.0),
        ({}, 0.0, 0.0),
    ],
    ids=["both", "cpu", "memory", "less than nothing", "neither"],
)
def test_usage_follows_the_annotations(annotations: dict[str, str], cpu: float, memory: float) -> None:
    script = script_of(annotations, "Always")
    assert script.cpu_cores == pytest.approx(cpu)
    assert script.memory_bytes == pytest.approx(memory)


def test_malformed_quantity_is_logged_and_ignored(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert script_of({"sampan.dev/cpu": "much"}, "Always").cpu_cores == 0.0
    assert "sampan.dev/cpu" in caplog.text

"""Errors of the metrics APIs: those of clients in Go, if the server does not have the API."""

from types import SimpleNamespace
from typing import Any

import pytest

from sampan.client.errors import response_error
from sampan.controllers.horizontal_pod_autoscaler.metrics import Metrics, MetricsError

STATUS = b'{"kind":"Status","code":404,"reason":"NotFound","message":"could not find the metric for pods"}'


def metrics(body: bytes) -> Metrics:
    """Return a client of a server that responds with 404."""

    async def call(*_: Any, **__: Any) -> bytes:
        raise response_error(404, body)

    client: Any = SimpleNamespace(rest=SimpleNamespace(call=call))
    return Metrics(client)


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (
            lambda found: found.of_pods("n", "", "cpu", ""),
            "resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)",
        ),
        (
            lambda found: found.custom_of_pods("n", "", "rps", ""),
            "custom metrics API: no custom metrics API (custom.metrics.k8s.io) registered",
        ),
        (
            lambda found: found.external("n", "rps", ""),
            "external metrics API: the server could not find the requested resource (get rps.external.metrics.k8s.io)",
        ),
    ],
    ids=["resource", "custom", "external"],
)
async def test_an_absent_metrics_api_is_named(read: Any, expected: str) -> None:
    with pytest.raises(MetricsError) as caught:
        await read(metrics(b"404 page not found\n"))
    assert str(caught.value) == f"unable to fetch metrics from {expected}"


async def test_the_message_of_a_metrics_server_is_unchanged() -> None:
    with pytest.raises(MetricsError, match=r"could not find the metric for pods$"):
        await metrics(STATUS).external("n", "queue", "")

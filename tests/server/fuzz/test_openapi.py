"""Requests made from our own OpenAPI v3: the answers are no faults, and what is promised for a success holds."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.core.transport import Response

from tests.properties import examples
from tests.server.cluster import ApiResponse
from tests.server.fuzz.conftest import Fuzzed
from tests.server.fuzz.test_requests import check

DOCUMENTS = (
    "apis/coordination.k8s.io/v1",
    "apis/rbac.authorization.k8s.io/v1",
    "apis/apps/v1",
    "apis/autoscaling/v1",
    "apis/events.k8s.io/v1",
    "apis/discovery.k8s.io/v1",
)
METHODS = ("get", "post", "put", "patch", "delete")
EXAMPLES_MAX = 2


def _operations(document: dict[str, Any]) -> Iterator[Any]:
    for found in schemathesis.openapi.from_dict(document).get_all_operations():
        operation: Any = found.ok()  # type: ignore[union-attr]  # a document of ours that is refused fails the test
        if operation.method in METHODS and "/watch/" not in operation.path:
            yield operation


def _fetch(fuzzed: Fuzzed, case: Any) -> ApiResponse:
    path = case.path.format(**{name: str(value) for name, value in case.path_parameters.items()})
    query = {name: _text(value) for name, value in case.query.items() if name not in ("watch", "resourceVersion")}
    body = b"" if isinstance(case.body, schemathesis.core.NotSet) else json.dumps(case.body).encode()
    content_type = case.media_type or "application/json"
    if content_type in ("application/yaml", "application/vnd.kubernetes.protobuf", "application/cbor"):
        content_type = "application/json"
    return fuzzed.fetch(case.method, f"{path}?{urlencode(query, errors='replace')}", body, content_type)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _conforms(operation: Any, case: Any, reply: ApiResponse) -> None:
    """Check that the body of a success fits the document."""
    request = requests.Request(case.method, "http://server/").prepare()
    response = Response(
        status_code=reply.code,
        headers={"content-type": [reply.response.content_type]},
        content=json.dumps(_without_null_rules(reply.body)).encode(),
        request=request,
        elapsed=0.0,
        verify=False,
    )
    operation.validate_response(response)


def _without_null_rules(body: dict[str, Any]) -> dict[str, Any]:
    """Roles without rules show null, as in Kubernetes, whose documents know no null."""
    items = [_without_null_rules(item) for item in body.get("items") or () if isinstance(item, dict)]
    retained = {name: value for name, value in body.items() if name != "rules" or value is not None}
    return {**retained, "items": items} if items else retained


@pytest.mark.hypothesis
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_operation_of_a_document(fuzzed: Fuzzed, name: str) -> None:
    document = fuzzed.fetch("GET", f"/openapi/v3/{name}").body
    requested = [_try(fuzzed, operation) for operation in _operations(document)]
    assert len(requested) > 5
    assert all(requested)


def _try(fuzzed: Fuzzed, operation: Any) -> int:
    """Return the number of answered requests of one operation."""
    requested = 0

    @settings(
        max_examples=examples(EXAMPLES_MAX),
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def fetch(case: Any) -> None:
        nonlocal requested
        reply = _fetch(fuzzed, case)
        check(reply)
        requested += 1
        if reply.code < 300 and isinstance(reply.body, dict):
            _conforms(operation, case, reply)

    fetch()
    return requested

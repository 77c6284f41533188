"""Bounds for output that an attacker can make long: defaults, columns, warnings, differences, audit events."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from sampan.registry.crd.validation.versions import COLUMNS_MAX
from sampan.registry.kinds.pod_spec.warnings import WARNINGS_MAX, template_warnings
from sampan.schema.default import DEFAULTS_BYTES_MAX
from sampan.server.audit.context import BODY_BYTES_MAX
from sampan.server.filters.warnings import TEXTS_MAX, TOTAL_CHARACTERS_MAX, warning_headers
from tests.server.audit.recorder import Recorder, audit_to
from tests.server.cluster import Api, served
from tests.server.custom_resources import CRDS, SHIRTS, crd, schema, shirt, version
from tests.server.verbs.objects import CONFIG_MAPS


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with served() as api:
        yield api


async def test_defaults_that_would_make_an_object_huge_are_refused(api: Api) -> None:
    item = {"type": "object", "properties": {"text": {"type": "string", "default": "x" * 10_000}}}
    await api.create(CRDS, crd(version(openapi=schema({"list": {"type": "array", "items": item}}))))
    response = await api.post(SHIRTS, shirt(spec={"list": [{}] * (DEFAULTS_BYTES_MAX // 10_000 + 1)}))
    assert (response.code, response.reason) == (413, "RequestEntityTooLarge")


async def test_a_crd_has_a_limited_number_of_columns(api: Api) -> None:
    columns = [{"name": "a", "type": "string", "jsonPath": ".spec.a"}] * (COLUMNS_MAX + 1)
    response = await api.post(CRDS, crd(version(additionalPrinterColumns=columns)))
    assert response.code == 422
    assert f"must have at most {COLUMNS_MAX} items" in response.message


def test_few_of_very_many_warnings_are_sent() -> None:
    headers = warning_headers([f"{index:0300}" for index in range(10 * TEXTS_MAX)])
    assert sum(map(len, headers)) < 2 * TOTAL_CHARACTERS_MAX


def test_paths_that_all_overlap_give_a_limited_number_of_warnings() -> None:
    items = [{"key": "a", "path": "p"} for _ in range(2000)]
    volume: Any = {"name": "v", "configMap": {"name": "c", "items": items}}
    assert len(template_warnings({"spec": {"containers": [], "volumes": [volume]}})) == WARNINGS_MAX


def test_ports_that_all_conflict_give_a_limited_number_of_warnings() -> None:
    ports: list[Any] = [{"containerPort": 1, "protocol": "TCP"}] * 2000
    found = template_warnings({"spec": {"containers": [{"name": "c", "ports": ports}]}})
    assert WARNINGS_MAX <= len(found) < 3 * WARNINGS_MAX


async def test_a_long_object_is_left_out_of_its_audit_event() -> None:
    recorder = Recorder()
    audit = audit_to(recorder, {"level": "RequestResponse"})
    async with served(audit=audit) as api:
        for name in "abcde":
            await api.create(CONFIG_MAPS, {"metadata": {"name": name}, "data": {"a": "x" * 1_000_000}})
        await api.get(CONFIG_MAPS)
        # It records the ends of responses that are written in pieces.
        recording = asyncio.create_task(audit.run())
        await asyncio.sleep(0)
        recording.cancel()
        await asyncio.wait({recording})
    event = next(event for event in reversed(recorder.events) if event["verb"] == "list")
    assert event["annotations"]["audit.k8s.io/truncated"] == "true"
    assert "responseObject" not in event
    assert all(len(orjson.dumps(each)) < 3 * BODY_BYTES_MAX for each in recorder.events)


@pytest.mark.parametrize(
    ("target", "accept"),
    [
        ("/openapi/v2", "application/json"),
        ("/openapi/v2", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"),
        ("/openapi/v3/api/v1", "application/json"),
        ("/openapi/v3/api/v1", "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"),
    ],
)
async def test_responses_share_a_compressed_document(target: str, accept: str) -> None:
    async with served() as api:
        headers = {"accept": accept, "accept-encoding": "gzip"}
        first, second = [(await api.get(target, **headers)).response for _ in range(2)]
        assert first.gzip_body is not None
        assert first.gzip_body is second.gzip_body
        assert gzip.decompress(first.gzip_body) == first.body
        assert (await api.get(target, accept=accept)).response.gzip_body is None

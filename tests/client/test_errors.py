"""Errors that the client makes of bad answers and bad events."""

import msgspec
import pytest

from sampan.client.errors import TransportError, response_error
from sampan.client.watching.list_watch import RawEvent
from sampan.client.watching.raw_events import resource_version_of, watch_error
from tests.unreadable import VALUES

BODIES = [b'{"kind":' + value + b"}" for value in VALUES.values()]
each_body = pytest.mark.parametrize("body", BODIES, ids=VALUES.keys())


@each_body
def test_an_unreadable_error_response_keeps_its_code(body: bytes) -> None:
    error = response_error(502, body)
    assert error.code == 502
    assert str(error).startswith('the server answered 502: {"kind":')


@each_body
def test_an_error_event_that_cannot_be_read_is_an_error_of_the_server(body: bytes) -> None:
    assert "no Status" in str(watch_error(RawEvent(type="ERROR", object=msgspec.Raw(body))))


@each_body
def test_an_object_whose_version_cannot_be_read_is_an_error(body: bytes) -> None:
    with pytest.raises(TransportError, match="cannot decode object of watch event"):
        resource_version_of(RawEvent(type="ADDED", object=msgspec.Raw(body)))


def test_a_404_of_an_unknown_path_names_the_missing_crd() -> None:
    error = response_error(404, b"404 page not found\n", path="/apis/example.com/v1/boats")
    assert str(error) == "the server does not serve /apis/example.com/v1/boats: is the CRD of the kind installed?"


def test_a_404_of_a_subresource_names_both_causes() -> None:
    body = (
        b'{"kind": "Status", "message": "boats \\"ada\\" not found", "reason": "NotFound", "details": {"name": "ada"}}'
    )
    error = response_error(404, body, path="/apis/example.com/v1/namespaces/default/boats/ada/status")
    assert str(error) == 'boats "ada" not found (or the kind has no subresource status: a CRD has to declare it)'


def test_a_404_of_a_built_in_kinds_subresource_is_that_of_the_server() -> None:
    body = b'{"kind": "Status", "message": "deployments.apps \\"web\\" not found", "reason": "NotFound"}'
    for path in ("/apis/apps/v1/namespaces/default/deployments/web/scale", "/api/v1/namespaces/default/pods/a/status"):
        assert str(response_error(404, body, path=path)) == 'deployments.apps "web" not found'

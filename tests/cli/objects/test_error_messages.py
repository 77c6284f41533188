"""Errors of the server, as kubectl 1.36 prints them."""

from typing import Any

import pytest

from sampan.cli.objects.session import explain
from sampan.client.errors import response_error
from sampan.wire.json import encode

WORSE = {"field": "b", "message": "worse"}
TWO_CAUSES = [{"field": "spec.a", "message": "bad"}, WORSE, WORSE]
INVALID = {"reason": "Invalid", "message": "m"}
LOGIN = "error: You must be logged in to the server (token is bad)"


@pytest.mark.parametrize(
    ("code", "status", "text"),
    [
        (404, {"reason": "NotFound", "message": "absent"}, "Error from server (NotFound): absent"),
        (
            500,
            {"message": "failed to create typed patch object"},
            "Error from server: failed to create typed patch object",
        ),
        (500, {"reason": "", "message": "no reason"}, "Error from server: no reason"),
        (500, {"reason": "InternalError", "message": "x"}, "Error from server (InternalError): x"),
        (418, {"reason": "Teapot", "message": "short"}, "Error from server (Teapot): short"),
        (418, {"message": "short"}, "Error from server: short"),
        (
            401,
            {"reason": "Unauthorized", "message": "Unauthorized"},
            "error: You must be logged in to the server (Unauthorized)",
        ),
        (422, {"message": "no reason"}, "Error from server: no reason"),
        (422, {"reason": "Invalid", "message": "no details"}, "The request is invalid: no details"),
        (
            422,
            {**INVALID, "details": {"kind": "Boat", "name": "a"}},
            'The Boat "a" is invalid',
        ),
        (
            422,
            {**INVALID, "details": {"causes": TWO_CAUSES[:1]}},
            "The request is invalid: spec.a: bad",
        ),
        (
            422,
            {**INVALID, "details": {"kind": "Boat", "name": "a", "causes": TWO_CAUSES}},
            'The Boat "a" is invalid: \n* spec.a: bad\n* b: worse',
        ),
    ],
)
def test_an_error_is_printed_as_kubectl_prints_it(code: int, status: dict[str, Any], text: str) -> None:
    body = encode({"kind": "Status", "apiVersion": "v1", "code": code, **status})
    assert explain(response_error(code, body)) == text


def test_a_response_that_is_no_status_has_the_reason_of_its_code() -> None:
    assert (
        explain(response_error(503, b"busy")) == "Error from server (ServiceUnavailable): the server answered 503: busy"
    )

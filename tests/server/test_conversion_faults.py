"""Errors for unacceptable answers of conversion webhooks (F27)."""

from typing import Any

import pytest

from tests.server.cluster import Api
from tests.server.conversion_webhook import SHIRTS_2, V1, V2, FakeWebhook, Json, first
from tests.server.custom_resources import SHIRTS
from tests.server.test_custom_resources_webhooks import api, one, webhook

__all__ = ["api", "webhook"]


def response(review: Json) -> Json:
    """The response part of an answer."""
    found: Json = review["response"]
    return found


@pytest.mark.parametrize(
    ("spoil", "text"),
    [
        pytest.param(lambda r: r.pop("response"), "failed: no response provided", id="no response"),
        pytest.param(lambda r: response(r).update(uid="x"), 'failed: expected response.uid="', id="uid of the review"),
        pytest.param(
            lambda r: r.update(apiVersion="apiextensions.k8s.io/v1beta1"),
            "failed: converting (v1beta1.ConversionReview) to (v1.ConversionReview): unknown conversion",
            id="version of the review",
        ),
        pytest.param(
            lambda r: r.pop("apiVersion"),
            "failed: expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, "
            "Kind=ConversionReview",
            id="type",
        ),
        pytest.param(
            lambda r: response(r).update(result={"status": "Failure", "message": "I will not"}),
            "failed: I will not",
            id="failure",
        ),
        pytest.param(
            lambda r: response(r).update(result={}),
            "failed: response.result.status was '', not 'Success'",
            id="no status",
        ),
        pytest.param(
            lambda r: response(r)["convertedObjects"].pop(), "returned 0 objects, expected 1", id="fewer objects"
        ),
        pytest.param(
            lambda r: r.update(apiVersion="apiextensions.k8s.io/v2"),
            'failed: no kind "ConversionReview" is registered for version "apiextensions.k8s.io/v2"',
            id="unknown version of the review",
        ),
        pytest.param(
            lambda r: r.update(response="x"),
            "failed: json: cannot unmarshal string into Go struct field ConversionReview.response of type "
            "v1.ConversionResponse",
            id="type of the response",
        ),
        pytest.param(
            lambda r: response(r).update(uid=1),
            "failed: json: cannot unmarshal number into Go struct field ConversionResponse.response.uid of type "
            "types.UID",
            id="type of the uid",
        ),
        pytest.param(
            lambda r: response(r).update(convertedObjects={}),
            "failed: json: cannot unmarshal object into Go struct field ConversionResponse.response.convertedObjects "
            "of type []runtime.RawExtension",
            id="type of the objects",
        ),
        pytest.param(
            lambda r: first(r).pop("apiVersion"),
            f"at index 0: invalid groupVersion (expected {V2}, received )",
            id="no version",
        ),
        pytest.param(
            lambda r: first(r)["metadata"].update(name=1),
            "returned invalid object: must have the same name: a != ",
            id="name type",
        ),
        pytest.param(
            lambda r: first(r)["metadata"].update(labels={"a": None}),
            "returned invalid metadata: metadata.labels[a] must be a string, but is <nil> in converted object",
            id="null label",
        ),
        pytest.param(
            lambda r: first(r).update(apiVersion=V1),
            f"at index 0: invalid groupVersion (expected {V2}, received {V1})",
            id="version",
        ),
        pytest.param(
            lambda r: first(r).update(kind="Trousers"),
            "at index 0: invalid kind (expected Shirt, received Trousers)",
            id="kind",
        ),
        pytest.param(
            lambda r: first(r).pop("metadata"), "invalid object: must have the same name: a != ", id="nothing"
        ),
        pytest.param(
            lambda r: first(r)["metadata"].update(name="z"),
            "returned invalid object: must have the same name: a != z",
            id="name",
        ),
        pytest.param(
            lambda r: first(r)["metadata"].update(uid="z"),
            "returned invalid object: must have the same UID: ",
            id="object uid",
        ),
        pytest.param(
            lambda r: first(r)["metadata"].update(labels={"a": 1}),
            "returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object",
            id="label type",
        ),
        pytest.param(
            lambda r: first(r)["metadata"].update(labels={"a b": "c"}),
            'returned invalid metadata: metadata.labels: Invalid value: "a b"',
            id="label",
        ),
    ],
)
async def test_an_invalid_conversion_review_is_an_error(api: Api, webhook: FakeWebhook, spoil: Any, text: str) -> None:
    await api.create(SHIRTS, one())
    webhook.spoil = spoil
    reply = await api.get(f"{SHIRTS_2}/a")
    assert (reply.code, reply.reason) == (500, "")
    assert f"conversion webhook for {V1}, Kind=Shirt" in reply.message
    assert text in reply.message


@pytest.mark.parametrize(
    ("spoil", "text"),
    [
        (
            lambda r: first(r)["metadata"].update(name="z"),
            "returned invalid object: must have the same name: a != z",
        ),
        (
            lambda r: first(r)["metadata"].update(labels="x"),
            "returned invalid metadata: invalid metadata.labels of type string in converted object",
        ),
    ],
    ids=["name", "labels"],
)
async def test_errors_of_lists_are_those_of_an_object(api: Api, webhook: FakeWebhook, spoil: Any, text: str) -> None:
    await api.create(SHIRTS, one())
    webhook.spoil = spoil
    assert (await api.get(SHIRTS_2)).message == f"conversion webhook for {V1}, Kind=Shirt {text}"

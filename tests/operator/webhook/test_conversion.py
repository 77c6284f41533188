"""Conversion over HTTPS: through the hub, metadata along, all or nothing."""

from typing import Any

import msgspec
import pytest

from sampan.operator.webhook import HubConversion, WebhookServer
from sampan.resource import CustomResource, resource
from tests.operator.webhook.frame import (
    GROUP,
    Json,
    Network,
    NetworkSpec,
    NetworkSpecV2,
    NetworkV2,
    fetch,
    network,
    reviewed,
    running,
    webhook_server,
)
from tests.unreadable import DEEP, NO_TEXT


class SpecAlpha(msgspec.Struct, omit_defaults=True):
    net: str


@resource(group=GROUP, version="v1alpha1", kind="Network", storage=False)
class NetworkAlpha(CustomResource):
    spec: SpecAlpha


def converting(server: WebhookServer) -> HubConversion[NetworkV2]:
    """v2 is the hub: v1 has `10.0.0.0/24` as `cidr`, v1alpha1 as `net`, v2 in two fields."""
    networks = server.conversion(NetworkV2)

    @networks.to_hub(Network)
    def upgrade(old: Network) -> NetworkV2:
        if not old.spec.cidr:
            raise ValueError("no cidr")
        address, _, length = old.spec.cidr.partition("/")
        return NetworkV2(spec=NetworkSpecV2(address=address, length=int(length), gateway=old.spec.gateway))

    @networks.from_hub(Network)
    async def downgrade(new: NetworkV2) -> Network:
        return Network(spec=NetworkSpec(cidr=f"{new.spec.address}/{new.spec.length}", gateway=new.spec.gateway))

    @networks.to_hub(NetworkAlpha)
    def alpha_up(old: NetworkAlpha) -> NetworkV2:
        address, _, length = old.spec.net.partition("/")
        labels = {"from": "alpha"}
        old.metadata.labels = labels
        return NetworkV2(metadata=old.metadata, spec=NetworkSpecV2(address=address, length=int(length)))

    @networks.from_hub(NetworkAlpha)
    def alpha_down(new: NetworkV2) -> NetworkAlpha:
        return NetworkAlpha(spec=SpecAlpha(net=f"{new.spec.address}/{new.spec.length}"))

    return networks


def conversion_review(version: str, *objects: Json, review_version: str = "v1") -> Json:
    return {
        "kind": "ConversionReview",
        "apiVersion": f"apiextensions.k8s.io/{review_version}",
        "request": {"uid": "u-1", "desiredAPIVersion": f"{GROUP}/{version}", "objects": list(objects)},
    }


METADATA = {"name": "net", "namespace": "default", "uid": "u", "labels": {"a": "b"}, "managedFields": [{"x": 1}]}


def stored(version: str, **spec: Any) -> Json:
    return {"apiVersion": f"{GROUP}/{version}", "kind": "Network", "metadata": METADATA, "spec": spec}


FORMS = {
    "v1": stored("v1", cidr="10.0.0.0/24"),
    "v2": stored("v2", address="10.0.0.0", length=24),
    "v1alpha1": stored("v1alpha1", net="10.0.0.0/24"),
}


@pytest.mark.parametrize("review_version", ["v1", "v1beta1"])
@pytest.mark.parametrize("target", FORMS)
async def test_every_version_becomes_every_other_one_in_order(target: str, review_version: str) -> None:
    server = webhook_server()
    converting(server)
    given = [FORMS["v2"], FORMS["v1"], FORMS["v2"]]
    async with running(server):
        response = await reviewed(server, "/convert", conversion_review(target, *given, review_version=review_version))
    assert response["result"]["status"] == "Success"
    assert response["convertedObjects"] == [FORMS[target]] * 3


async def test_a_function_may_state_labels_and_annotations_and_nothing_else_of_the_metadata() -> None:
    server = webhook_server()
    converting(server)
    async with running(server):
        response = await reviewed(server, "/convert", conversion_review("v1", FORMS["v1alpha1"]))
    assert response["convertedObjects"][0]["metadata"] == {**METADATA, "labels": {"from": "alpha"}}


@pytest.mark.parametrize(
    ("review", "message"),
    [
        (conversion_review("v1", FORMS["v2"], stored("v2", address=1)), "the object does not fit"),
        (conversion_review("v2", network(cidr="")), "no cidr"),
        (conversion_review("v2", network(cidr="x/y")), "invalid literal for int()"),
        (conversion_review("v3", FORMS["v1"]), "Network.net.example.com has no version 'net.example.com/v3' here"),
        (conversion_review("v1", {"apiVersion": f"{GROUP}/v1", "kind": "Other"}), "no conversion of Other.net.example"),
    ],
    ids=["shape", "error", "value", "version", "kind"],
)
async def test_one_object_that_cannot_be_converted_fails_the_review(review: Json, message: str) -> None:
    server = webhook_server()
    converting(server)
    async with running(server):
        response = await reviewed(server, "/convert", review)
    assert response["result"]["status"] == "Failure"
    assert response["result"]["message"].startswith(message)
    assert "convertedObjects" not in response


async def test_a_bug_in_a_function_is_not_reported_to_clients() -> None:
    server = webhook_server()
    networks = server.conversion(NetworkV2)

    @networks.to_hub(Network)
    def upgrade(old: Network) -> NetworkV2:
        raise KeyError("secret")

    networks.from_hub(Network)(upgrade)  # type: ignore[arg-type]  # never called
    async with running(server):
        response = await reviewed(server, "/convert", conversion_review("v2", FORMS["v1"]))
    assert response["result"]["message"] == "the conversion failed with KeyError; its log has the details"


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"kind":' + NO_TEXT + b"}",
        b'{"x":' + DEEP + b"}",
        {"kind": "ConversionReview", "apiVersion": "x/v1", "request": {"uid": "", "desiredAPIVersion": ""}},
    ],
    ids=["syntax", "no text", "deep", "group"],
)
async def test_a_body_that_is_no_review_is_refused(body: Any) -> None:
    server = webhook_server()
    converting(server)
    async with running(server):
        assert (await fetch(server, "/convert", body))[0] == 400


def test_registrations_are_checked() -> None:
    server = webhook_server()
    networks = converting(server)
    with pytest.raises(ValueError, match=r"Network.net.example.com already has a conversion"):
        server.conversion(Network)
    with pytest.raises(ValueError, match=r"net.example.com/v1, Kind=Network already has a function"):
        networks.to_hub(Network)
    with pytest.raises(ValueError, match="is not another version of"):
        networks.to_hub(NetworkV2)
    with pytest.raises(TypeError, match="lacks a second version"):
        HubConversion(Network).check()
    assert networks.crd_name == "networks.net.example.com"

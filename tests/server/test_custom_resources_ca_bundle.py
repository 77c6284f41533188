"""The CA bundle of a conversion webhook, on the way of a CRD (F27)."""

import base64
from datetime import UTC, datetime
from typing import Any

from sampan.server.pki.certificates import make_ca
from tests.server.cluster import Api
from tests.server.custom_resources import CRD, CRDS, SHIRTS, change, condition, crd, messages, version
from tests.server.verbs.conftest import api

__all__ = ["api"]

GOOD = base64.b64encode(make_ca("webhook", datetime.now(UTC)).certificate_pem()).decode()
BAD = base64.b64encode(b"nonsense").decode()


def converting(bundle: str) -> Any:
    """A CRD whose webhook is known by this bundle."""
    client = {"url": "https://127.0.0.1:1/convert", "caBundle": bundle}
    webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
    return crd(version(), conversion={"strategy": "Webhook", "webhook": webhook})


def set_bundle(body: Any, bundle: str) -> None:
    """Give a CRD another bundle."""
    body["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = bundle


async def test_a_crd_is_not_established_before_its_bundle_can_be_used(api: Api) -> None:
    await api.create(CRDS, converting(BAD))
    found = (await api.get(CRD)).body
    assert condition(found, "NamesAccepted")["status"] == "True"
    established = condition(found, "Established")
    assert (established["status"], established["reason"]) == ("False", "InvalidCABundle")
    assert established["message"] == "The conversion webhook CABundle is invalid"
    assert (await api.get(SHIRTS)).code == 404
    assert (await change(api, lambda body: set_bundle(body, GOOD))).code == 200
    assert condition((await api.get(CRD)).body, "Established")["status"] == "True"
    assert (await api.get(SHIRTS)).code == 200


async def test_an_established_crd_keeps_a_bundle_that_can_be_used(api: Api) -> None:
    await api.create(CRDS, converting(GOOD))
    response = await change(api, lambda body: set_bundle(body, BAD))
    assert response.code == 422
    text = "unable to load root certificates: unable to parse bytes as PEM block"
    assert messages(response) == [f'spec.conversion.webhookClientConfig.caBundle: Invalid value: "{BAD}": {text}']
    assert (await change(api, lambda body: set_bundle(body, ""))).code == 200

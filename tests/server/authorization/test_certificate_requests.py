"""CertificateSigningRequests: no verb or subresource forges the requester, or approves and signs without the right."""

import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sampan.core.object import Object
from tests.server.authorization.caches import RBAC, binding, role, rule, user
from tests.server.cluster import Api, ApiResponse, served
from tests.server.frame import JANE

REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
CONDITIONS = [{"type": "Approved", "status": "True", "reason": "r", "message": "m"}]
FORGED: Object = {"username": "admin", "uid": "1", "groups": ["system:masters"], "extra": {"a": ["b"]}}


def encoded(organization: str) -> str:
    """A request for a certificate of a user in an organization."""
    attributes = [(NameOID.COMMON_NAME, "u"), (NameOID.ORGANIZATION_NAME, organization)]
    name = x509.Name([x509.NameAttribute(oid, value) for oid, value in attributes])
    request = x509.CertificateSigningRequestBuilder().subject_name(name)
    signed = request.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    return base64.b64encode(signed.public_bytes(serialization.Encoding.PEM)).decode()


def csr(organization: str = "devs", **more: Any) -> Object:
    """A request to the signer of client certificates."""
    spec = {"request": encoded(organization), "signerName": "kubernetes.io/kube-apiserver-client"}
    return {
        "kind": "CertificateSigningRequest",
        "apiVersion": "certificates.k8s.io/v1",
        "metadata": {"name": "r"},
        "spec": {**spec, "usages": ["client auth"], **more},
    }


@pytest.fixture
async def jane() -> AsyncIterator[Api]:
    """jane may do everything with the requests and their subresources, and nothing with signers."""
    async with served() as admin:
        parts = "certificatesigningrequests certificatesigningrequests/status certificatesigningrequests/approval"
        verbs = "create get list watch update patch delete"
        await admin.create(f"/apis/{RBAC}/v1/clusterroles", role("hers", rule(verbs, "certificates.k8s.io", parts)))
        await admin.create(f"/apis/{RBAC}/v1/clusterrolebindings", binding("hers", "hers", user("jane")))
        yield Api(admin.server, JANE)


async def made(api: Api, how: str, body: Object) -> ApiResponse:
    return await (api.post(REQUESTS, body) if how == "post" else api.apply(f"{REQUESTS}/r", body))


@pytest.mark.parametrize("how", ["post", "apply"])
async def test_the_server_sets_the_requesting_user(jane: Api, how: str) -> None:
    response = await made(jane, how, csr(**FORGED))
    assert response.code == 201
    spec = response.body["spec"]
    assert (spec["username"], spec["groups"]) == ("jane", ["devs", "system:authenticated"])
    assert "extra" not in spec


@pytest.mark.parametrize("how", ["post", "apply"])
async def test_a_certificate_of_the_masters_cannot_be_requested(jane: Api, how: str) -> None:
    assert (await made(jane, how, csr("system:masters"))).code == 403


@pytest.mark.parametrize("how", ["put", "merge", "strategic", "json", "apply"])
@pytest.mark.parametrize("part", ["", "/status", "/approval"])
async def test_no_write_approves_without_the_right_on_the_signer(jane: Api, part: str, how: str) -> None:
    found = (await made(jane, "post", csr())).body
    path, status = f"{REQUESTS}/r{part}", {"conditions": CONDITIONS}
    if how == "put":
        await jane.put(path, {**found, "status": status})
    elif how == "json":
        await jane.patch(path, [{"op": "add", "path": "/status/conditions", "value": CONDITIONS}], how)
    else:
        head = {name: found[name] for name in ("kind", "apiVersion")} | {"metadata": {"name": "r"}}
        query = "?fieldManager=t&force=true" if how == "apply" else ""
        await jane.patch(path + query, {**head, "status": status}, how)
    assert "conditions" not in ((await jane.get(f"{REQUESTS}/r")).body.get("status") or {})


@pytest.mark.parametrize("part", ["", "/status", "/approval"])
async def test_no_write_changes_the_request_itself(jane: Api, part: str) -> None:
    found = (await made(jane, "post", csr())).body
    await jane.put(f"{REQUESTS}/r{part}", {**found, "spec": csr("system:masters", **FORGED)["spec"]})
    assert (await jane.get(f"{REQUESTS}/r")).body["spec"] == found["spec"]

"""Certificate signing requests, and API services."""

import base64
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sampan.core.object import Object
from sampan.registry.strategy import Context
from tests.registry.kinds.cases import (
    CTX,
    Change,
    changed,
    created,
    defaulted,
    faults,
    status_faults,
    strategy,
    update_faults,
)

REQUESTS = strategy("certificates.k8s.io", "certificatesigningrequests")
API_SERVICES = strategy("apiregistration.k8s.io", "apiservices")


def make_request() -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "u")])
    request = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(key, hashes.SHA256())
    return base64.b64encode(request.public_bytes(serialization.Encoding.PEM)).decode()


REQUEST: Object = {"spec": {"request": make_request(), "signerName": "example.com/signer", "usages": ["client auth"]}}
SIGNED_WITH_SHA1 = (  # the library no longer signs with SHA-1
    "MIHEMG4CAQAwDDEKMAgGA1UEAwwBdTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABIiyI790oEww87PlyvDlcnAMaTz1A1SzdXd5"
    "uzgJwa3apkdkcTd2N/NngbEaildf6migjoHScR8gVbPItjrQHCKgADAJBgcqhkjOPQQBA0cAMEQCIGQg1wa4mwvamdDTvtykg9AX"
    "aXQrC5BqYLwMGv1HDmcCAiBUevRzVxdk53pUkz8/Qnx/7t+vVDTJTgqGiswB3foYiQ=="
)
APPROVED = {"type": "Approved", "status": "True"}
DENIED = {"type": "Denied", "status": "True"}


def test_a_plain_request_is_valid() -> None:
    assert faults(REQUESTS, REQUEST) == []
    assert update_faults(REQUESTS, REQUEST, {"metadata/labels": {"a": "b"}}) == []


def _pem(der: bytes) -> str:
    body = base64.encodebytes(der).decode()
    text = f"-----BEGIN CERTIFICATE REQUEST-----\n{body}-----END CERTIFICATE REQUEST-----\n"
    return base64.b64encode(text.encode()).decode()


def test_a_request_may_be_signed_with_sha_1() -> None:
    der = base64.b64decode(SIGNED_WITH_SHA1)
    assert faults(REQUESTS, changed(REQUEST, {"spec/request": _pem(der)})) == []
    forged = changed(REQUEST, {"spec/request": _pem(der.replace(b"\x01u0", b"\x01v0", 1))})
    assert [text.rpartition(": ")[2] for text in faults(REQUESTS, forged)] == [
        "certificate request signature is invalid"
    ]


CASES: list[tuple[Change, list[str]]] = [
    ({"spec/usages": []}, ["spec.usages: Required value"]),
    (
        {"spec/usages": ["client auth", "client auth"]},
        ['spec.usages[1]: Duplicate value: "client auth"'],
    ),
    (
        {"spec/signerName": "kubernetes.io/legacy-unknown"},
        [
            'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": '
            "the legacy signerName is not allowed via this API version"
        ],
    ),
    (
        {"spec/expirationSeconds": 599},
        ["spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds (10 minutes)"],
    ),
    (
        {"spec/request": "eA=="},
        ['spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST'],
    ),
]


@pytest.mark.parametrize(("change", "texts"), CASES, ids=[str(change)[:40] for change, _ in CASES])
def test_a_broken_rule_is_reported(change: Change, texts: list[str]) -> None:
    assert faults(REQUESTS, changed(REQUEST, change)) == texts


def test_the_requester_is_the_authenticated_user() -> None:
    request = changed(REQUEST, {"spec/username": "somebody", "spec/groups": ["system:masters"]})
    REQUESTS.prepare_for_create(Context(user="me", groups=("us",)), request)
    assert (request["spec"]["username"], request["spec"]["groups"]) == ("me", ["us"])


def test_the_request_never_changes() -> None:
    old = created(REQUESTS, REQUEST)
    new = changed(old, {"spec/signerName": "other.com/signer"})
    REQUESTS.prepare_for_update(CTX, new, old)
    assert new["spec"] == old["spec"]


@pytest.mark.parametrize(
    ("status", "old", "texts"),
    [
        pytest.param({"conditions": [{"type": "Failed", "status": "True"}]}, {}, [], id="a signer gives up"),
        pytest.param(
            {"conditions": [APPROVED]},
            {},
            ['status.conditions: Forbidden: updates may not add a condition of type "Approved"'],
            id="approval is another endpoint's",
        ),
        pytest.param(
            {},
            {"conditions": [DENIED]},
            ['status.conditions: Forbidden: updates may not remove a condition of type "Denied"'],
            id="a denial stays",
        ),
        pytest.param(
            {"certificate": "eA=="},
            {},
            [
                'status.certificate: Invalid value: "<certificate data>": '
                "must contain at least one CERTIFICATE PEM block"
            ],
            id="no certificate",
        ),
    ],
)
def test_a_signer_changes_only_the_status(status: Any, old: Any, texts: list[str]) -> None:
    assert status_faults(REQUESTS, REQUEST, status, old) == texts


@pytest.mark.parametrize("times", [{}, {"lastUpdateTime": None, "lastTransitionTime": None}], ids=["absent", "null"])
def test_conditions_get_their_times(times: dict[str, Any]) -> None:
    old = created(REQUESTS, REQUEST)
    new = {**old, "status": {"conditions": [{"type": "Failed", "status": "True", **times}]}}
    REQUESTS.prepare_for_status_update(CTX, new, old)
    (reported,) = new["status"]["conditions"]
    assert reported["lastUpdateTime"] == reported["lastTransitionTime"] is not None


def test_signers_are_selectable() -> None:
    assert REQUESTS.selectable_fields(REQUEST) == {"spec.signerName": "example.com/signer"}


SERVICE: Object = {
    "metadata": {"name": "v1.a.example"},
    "spec": {
        "group": "a.example",
        "version": "v1",
        "groupPriorityMinimum": 100,
        "versionPriority": 10,
        "service": {"name": "s", "namespace": "d"},
    },
}


def test_a_plain_api_service_is_valid() -> None:
    assert faults(API_SERVICES, SERVICE) == []
    assert defaulted(API_SERVICES, SERVICE)["spec"]["service"]["port"] == 443


@pytest.mark.parametrize(
    ("change", "texts"),
    [
        pytest.param(
            {"metadata/name": "x"},
            ['metadata.name: Invalid value: "x": must be `spec.version+"."+spec.group`: "v1.a.example"'],
            id="name",
        ),
        pytest.param(
            {"spec/versionPriority": 1001},
            ["spec.versionPriority: Invalid value: 1001: must be positive and less than 1000"],
            id="priority",
        ),
        pytest.param({"spec/service/name": ""}, ["spec.service.name: Required value"], id="service"),
    ],
)
def test_a_broken_rule_of_api_services_is_reported(change: Change, texts: list[str]) -> None:
    assert faults(API_SERVICES, changed(SERVICE, change)) == texts


def test_local_api_services_are_available() -> None:
    spec = {name: value for name, value in SERVICE["spec"].items() if name != "service"}
    local = created(API_SERVICES, {**SERVICE, "spec": spec})
    assert local["status"]["conditions"][0]["status"] == "True"

"""POST serviceaccounts/NAME/token: requests, refusals, and the content of the token."""

from typing import Any

import jwt
import pytest

from sampan.server.authentication.service_account.issuer import EXTENDED_EXPIRATION_S, IssuePolicy
from tests.server.authentication.accounts import ISSUER, KEY, Accounts, accounts, claims_of

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {"serviceAccountName": "robot", "nodeName": "n1", "containers": [{"name": "c", "image": "i"}]},
}
BOUND_TO_POD = {"apiVersion": "v1", "kind": "Pod", "name": "p"}


async def test_the_response_is_the_request_with_a_token_of_an_hour() -> None:
    async with accounts() as a:
        response = await a.request()
        assert response.code == 201
        assert (response.body["kind"], response.body["apiVersion"]) == ("TokenRequest", "authentication.k8s.io/v1")
        assert response.body["spec"] == {"audiences": ["api"], "expirationSeconds": 3600, "boundObjectRef": None}
        assert response.body["status"]["expirationTimestamp"] == "2026-06-01T13:00:00Z"
        assert response.metadata["name"] == "robot"
        assert response.metadata["creationTimestamp"] == "2026-06-01T12:00:00Z"


async def test_the_response_has_managed_fields() -> None:
    async with accounts() as a:
        path = "/api/v1/namespaces/default/serviceaccounts/robot/token?fieldManager=me"
        [entry] = (await a.api.post(path, {"spec": {"audiences": ["vault"]}})).metadata["managedFields"]
        assert (entry["manager"], entry["operation"], entry["subresource"]) == ("me", "Update", "token")
        assert entry["fieldsV1"] == {"f:spec": {"f:audiences": {}, "f:expirationSeconds": {}}}


async def test_unknown_fields_are_reported_by_field_validation() -> None:
    async with accounts() as a:
        path = "/api/v1/namespaces/default/serviceaccounts/robot/token"
        strict = await a.api.post(f"{path}?fieldValidation=Strict", {"spec": {"x": 1}})
        assert (strict.code, 'strict decoding error: unknown field "spec.x"' in strict.message) == (400, True)
        assert (await a.api.post(f"{path}?fieldValidation=Ignore", {"spec": {"x": 1}})).code == 201


async def test_the_token_has_subject_audience_and_expiry() -> None:
    async with accounts() as a:
        token = await a.token({"audiences": ["vault"], "expirationSeconds": 700})
        claims = claims_of(token)
        account = await a.api.get("/api/v1/namespaces/default/serviceaccounts/robot")
        now = int(a.clock.seconds())
        assert claims.pop("jti")
        assert claims == {
            "aud": ["vault"],
            "exp": now + 700,
            "iat": now,
            "iss": ISSUER,
            "kubernetes.io": {
                "namespace": "default",
                "serviceaccount": {"name": "robot", "uid": account.metadata["uid"]},
            },
            "nbf": now,
            "sub": "system:serviceaccount:default:robot",
        }
        assert jwt.get_unverified_header(token) == {"alg": "ES256", "kid": KEY.verifying.key_id}


@pytest.mark.parametrize(
    ("spec", "metadata", "code", "message"),
    [
        pytest.param({"expirationSeconds": 599}, {}, 422, "than 10 minutes", id="too short"),
        pytest.param({"expirationSeconds": (1 << 32) + 1}, {}, 422, "than 2^32 seconds", id="too long"),
        pytest.param({}, {"name": "x"}, 422, "metadata.name: Invalid value", id="other name"),
        pytest.param(
            {}, {"namespace": "x"}, 400, "does not match the namespace sent on the request", id="other namespace"
        ),
        pytest.param({}, {"uid": "x"}, 409, "the UID in the token request (x) does not match", id="other uid"),
        pytest.param({"boundObjectRef": {"kind": "Pod"}}, {}, 400, "Name parameter required.", id="no name"),
        pytest.param({"boundObjectRef": {}}, {}, 400, "cannot bind token to object of type /, Kind=", id="no kind"),
        pytest.param({"boundObjectRef": {"kind": "Pod", "name": "no"}}, {}, 404, 'pods "no" not found', id="no pod"),
        pytest.param(
            {"boundObjectRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}},
            {},
            400,
            "cannot bind token to object of type apps/v1, Kind=Deployment",
            id="other kind",
        ),
    ],
)
async def test_an_invalid_request_is_refused(
    spec: dict[str, Any], metadata: dict[str, str], code: int, message: str
) -> None:
    async with accounts() as a:
        response = await a.request(spec, **metadata)
        assert response.code == code, response.body
        assert message in response.message


async def test_there_is_no_token_without_an_account() -> None:
    async with accounts() as a:
        response = await a.api.post("/api/v1/namespaces/default/serviceaccounts/nobody/token", {})
        assert (response.code, response.message) == (404, 'serviceaccounts "nobody" not found')


async def test_the_time_is_shortened_with_a_warning() -> None:
    async with accounts(IssuePolicy(expiration_max_s=1000)) as a:
        response = await a.request({"expirationSeconds": 5000})
        assert response.body["spec"]["expirationSeconds"] == 1000
        assert response.warnings == ["requested expiration of 5000 seconds shortened to 1000 seconds"]


async def pod_of(a: Accounts) -> Any:
    """The robot's Pod, on a Node."""
    await a.create("nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}, "")
    return await a.create("pods", POD)


async def test_a_token_of_a_pod_names_pod_and_node() -> None:
    async with accounts() as a:
        pod = await pod_of(a)
        claims = claims_of(await a.token({"boundObjectRef": BOUND_TO_POD}))["kubernetes.io"]
        assert claims["pod"] == {"name": "p", "uid": pod["metadata"]["uid"]}
        assert claims["node"]["name"] == "n1"
        assert claims["node"]["uid"]


async def test_a_token_cannot_be_bound_to_a_pod_of_another_account() -> None:
    async with accounts() as a:
        await a.create("pods", {**POD, "spec": {"containers": [{"name": "c", "image": "i"}]}})
        response = await a.request({"boundObjectRef": BOUND_TO_POD})
        assert response.code == 400
        assert "pod running with different serviceaccount name" in response.message


async def test_another_pod_of_the_same_name_is_a_conflict() -> None:
    async with accounts() as a:
        await pod_of(a)
        response = await a.request({"boundObjectRef": {**BOUND_TO_POD, "uid": "old"}})
        assert response.code == 409
        assert "The object might have been deleted and then recreated" in response.message


async def test_the_default_token_of_a_pod_is_extended_with_a_warning_time() -> None:
    async with accounts() as a:
        await pod_of(a)
        response = await a.request({"boundObjectRef": BOUND_TO_POD, "expirationSeconds": 3607})
        claims = claims_of(response.body["status"]["token"])
        assert claims["exp"] - claims["iat"] == EXTENDED_EXPIRATION_S
        assert claims["kubernetes.io"]["warnafter"] - claims["iat"] == 3607
        assert response.body["status"]["expirationTimestamp"] == "2026-06-01T13:00:07Z"


async def test_a_token_for_another_audience_is_not_extended() -> None:
    async with accounts() as a:
        await pod_of(a)
        spec = {"boundObjectRef": BOUND_TO_POD, "expirationSeconds": 3607, "audiences": ["vault"]}
        claims = claims_of(await a.token(spec))
        assert claims["exp"] - claims["iat"] == 3607

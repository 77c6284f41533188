"""Authentication of service account tokens, and their expiry."""

import base64
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from sampan.core.tokens.keys import (
    SigningKey,
    make_signing_key,
    read_signing_key,
    read_verifying_keys,
)
from sampan.core.tokens.legacy import INVALID_SINCE_LABEL, LAST_USED_LABEL
from sampan.server.authentication.authenticator import TokenError
from sampan.server.authentication.bootstrap_token import BootstrapTokens
from sampan.server.authentication.service_account.issuer import Grant, IssuePolicy, TokenIssuer
from sampan.server.authentication.service_account.tokens import ServiceAccountTokens
from sampan.storage.store import StoreUnavailable
from tests.server.authentication.accounts import ISSUER, KEY, Accounts, Clock, Objects, accounts, claims_of
from tests.server.authentication.test_token_request import BOUND_TO_POD, pod_of
from tests.server.frame import MASTER

ROBOT = {"metadata": {"name": "robot", "namespace": "default", "uid": "r-1"}}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
BOUND_TO_SECRET = {"apiVersion": "v1", "kind": "Secret", "name": "s"}


async def whoami(a: Accounts, token: str) -> Any:
    """Return the SelfSubjectReview for a token, or the status code of a refusal."""
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    response = await a.api.fetch(
        "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review, authorization=f"Bearer {token}"
    )
    return response.body["status"]["userInfo"] if response.code == 201 else response.code


async def response_to(tokens: ServiceAccountTokens, token: str) -> str:
    """Return the error for a token; "" if it is valid."""
    try:
        await tokens.authenticate_token(token)
    except TokenError as error:
        return str(error)
    return ""


async def fault(a: Accounts, token: str) -> str:
    """Return the error for a token from the authenticator of a server."""
    return await response_to(a.tokens, token)


def alone(clock: Clock) -> ServiceAccountTokens:
    """The authenticator, without a server, where the robot is."""
    objects = Objects(("serviceaccounts", ROBOT))
    return ServiceAccountTokens(objects, [KEY.verifying], issuers=[ISSUER], api_audiences=["api"], now=clock.seconds)


async def test_the_bearer_is_the_service_account() -> None:
    async with accounts() as a:
        pod = await pod_of(a)
        token = await a.token({"boundObjectRef": BOUND_TO_POD})
        user = await whoami(a, token)
        assert user["username"] == "system:serviceaccount:default:robot"
        assert user["groups"] == ["system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"]
        extra = {name.partition("/")[2]: values[0] for name, values in user["extra"].items()}
        assert extra.pop("credential-id") == f"JTI={claims_of(token)['jti']}"
        assert extra.pop("node-uid")
        assert extra == {"pod-name": "p", "pod-uid": pod["metadata"]["uid"], "node-name": "n1"}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        pytest.param(600 + 59, "", id="within the leeway"),
        pytest.param(600 + 61, "service account token has expired", id="expired"),
        pytest.param(-59, "", id="a clock that is behind"),
        pytest.param(-61, "service account token is not valid yet", id="not yet"),
    ],
)
async def test_a_token_expires(seconds: int, text: str) -> None:
    clock = Clock()
    token, _ = TokenIssuer(ISSUER, KEY).issue(ROBOT, Grant(["api"], 600), int(clock.seconds()))
    clock.pass_s(seconds)
    assert await response_to(alone(clock), token) == text


async def test_a_token_is_invalid_after_its_account_is_deleted() -> None:
    async with accounts() as a:
        token = await a.token()
        await a.api.delete("/api/v1/namespaces/default/serviceaccounts/robot")
        assert await fault(a, token) == 'serviceaccounts "robot" not found'
        assert await whoami(a, token) == 401


async def test_tokens_of_a_deleted_account_are_invalid_for_its_successor() -> None:
    async with accounts() as a:
        token = await a.token()
        await a.api.delete("/api/v1/namespaces/default/serviceaccounts/robot")
        robot = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}
        await a.create("serviceaccounts", robot)
        assert "does not match claim" in await fault(a, token)


async def test_a_token_is_invalid_after_its_bound_object_is_deleted() -> None:
    async with accounts() as a:
        await a.create("secrets", SECRET)
        token = await a.token({"boundObjectRef": BOUND_TO_SECRET})
        assert await fault(a, token) == ""
        await a.api.delete("/api/v1/namespaces/default/secrets/s")
        assert await fault(a, token) == "service account token has been invalidated"
        await a.create("secrets", SECRET)
        assert "secret UID" in await fault(a, token)


async def test_a_token_of_a_deleted_pod_is_valid_for_another_minute() -> None:
    async with accounts() as a:
        await a.create("secrets", {**SECRET, "metadata": {"name": "s", "finalizers": ["tests.sampan.dev/stay"]}})
        token = await a.token({"boundObjectRef": BOUND_TO_SECRET})
        await a.api.delete("/api/v1/namespaces/default/secrets/s")
        assert await fault(a, token) == ""
        a.clock.pass_s(61)
        assert await fault(a, token) == "service account token has been invalidated"


async def test_a_token_for_another_audience_is_refused() -> None:
    async with accounts() as a:
        token = await a.token({"audiences": ["vault"]})
        assert await fault(a, token) == 'token audiences ["vault"] is invalid for the target audiences ["api"]'
        assert await whoami(a, token) == 401


async def test_a_token_of_another_key_is_refused() -> None:
    async with accounts() as a:
        token = await a.token()
        head, payload, signature = token.split(".")
        other = TokenIssuer(ISSUER, make_signing_key())
        account = (await a.api.get("/api/v1/namespaces/default/serviceaccounts/robot")).body
        forged = other.legacy(account, "s")
        assert await fault(a, forged) == "invalid signature, no keys found"
        assert "cryptographic primitive" in await fault(
            a, f"{head}.{payload}.{signature[10:20]}{signature[:10]}{signature[20:]}"
        )


async def test_an_unsigned_token_is_refused() -> None:
    async with accounts() as a:
        payload = (await a.token()).split(".")[1]
        head = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
        assert "cryptographic primitive" in await fault(a, f"{head}.{payload}.")


@pytest.mark.parametrize("token", ["", "abc", "a.b.c", "{}", "e30.e30.e30", "....", "a.W10.c"])
async def test_a_token_of_another_issuer_is_unknown(token: str) -> None:
    assert await alone(Clock()).authenticate_token(token) is None


async def test_a_stale_token_is_recorded_in_the_audit() -> None:
    async with accounts(IssuePolicy()) as a:
        await pod_of(a)
        token = await a.token({"boundObjectRef": BOUND_TO_POD, "expirationSeconds": 3607})
        a.clock.pass_s(3700)
        found = await a.tokens.authenticate_token(token)
        assert found is not None
        assert found.annotations == {
            "authentication.k8s.io/stale-token": "subject: system:serviceaccount:default:robot, "
            "seconds after warning threshold: 93"
        }


async def legacy(a: Accounts) -> str:
    """The token in a Secret."""
    account = (await a.api.get("/api/v1/namespaces/default/serviceaccounts/robot")).body
    token = a.issuer.legacy(account, "old")
    await a.create(
        "secrets",
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "kubernetes.io/service-account-token",
            "metadata": {"name": "old", "annotations": {"kubernetes.io/service-account.name": "robot"}},
            "stringData": {"token": token},
        },
    )
    return token


async def test_the_token_of_a_secret_lasts_as_long_as_the_secret() -> None:
    async with accounts() as a:
        token = await legacy(a)
        a.clock.pass_s(10 * 365 * 86400)
        found = await a.tokens.authenticate_token(token)
        assert found is not None
        assert found.user.name == "system:serviceaccount:default:robot"
        assert found.audiences == ("api",)
        await a.api.delete("/api/v1/namespaces/default/secrets/old")
        assert await fault(a, token) == "Token has been invalidated"


async def test_the_secret_must_contain_the_same_token() -> None:
    async with accounts() as a:
        token = await legacy(a)
        data = {"data": {"token": base64.b64encode(b"another").decode()}}
        await a.api.patch("/api/v1/namespaces/default/secrets/old", data)
        assert await fault(a, token) == "Token does not match server's copy"


async def test_a_secret_may_be_marked_as_invalid() -> None:
    async with accounts() as a:
        token = await legacy(a)
        label = {"metadata": {"labels": {"kubernetes.io/legacy-token-invalid-since": "2026-01-01"}}}
        await a.api.patch("/api/v1/namespaces/default/secrets/old", label)
        assert "has been marked invalid" in await fault(a, token)


async def labels_of(a: Accounts) -> Any:
    """The labels of the Secret with the token."""
    return (await a.api.get("/api/v1/namespaces/default/secrets/old")).metadata.get("labels")


async def test_the_secret_has_a_label_with_the_last_use_of_its_token() -> None:
    async with accounts() as a:
        token = await legacy(a)
        assert await labels_of(a) is None
        for _ in range(2):
            await a.tokens.authenticate_token(token)
            assert await labels_of(a) == {LAST_USED_LABEL: "2026-06-01"}
        entries = (await a.api.get("/api/v1/namespaces/default/secrets/old")).metadata["managedFields"]
        assert LAST_USED_LABEL in str(next(each for each in entries if each["manager"] == "kube-apiserver"))
        a.clock.pass_s(86400)
        await a.tokens.authenticate_token(token)
        assert await labels_of(a) == {LAST_USED_LABEL: "2026-06-02"}


async def test_the_use_is_written_once_a_day() -> None:
    async with accounts() as a:
        token = await legacy(a)
        await a.tokens.authenticate_token(token)
        before = (await a.api.get("/api/v1/namespaces/default/secrets/old")).metadata["resourceVersion"]
        await a.tokens.authenticate_token(token)
        a.clock.pass_s(-86400)  # A server whose clock is behind leaves what another one has written.
        await a.tokens.authenticate_token(token)
        assert (await a.api.get("/api/v1/namespaces/default/secrets/old")).metadata["resourceVersion"] == before


async def test_the_use_of_an_invalid_token_is_recorded_too() -> None:
    async with accounts() as a:
        token = await legacy(a)
        label = {"metadata": {"labels": {INVALID_SINCE_LABEL: "2026-01-01"}}}
        await a.api.patch("/api/v1/namespaces/default/secrets/old", label)
        with pytest.raises(TokenError) as refused:
            await a.tokens.authenticate_token(token)
        assert refused.value.annotations["authentication.k8s.io/legacy-token-invalidated"] == "old/default"
        assert (await labels_of(a))[LAST_USED_LABEL] == "2026-06-01"


async def test_a_token_is_valid_even_if_its_use_cannot_be_recorded(caplog: pytest.LogCaptureFixture) -> None:
    async with accounts() as a:
        token = await legacy(a)
        a.api.cluster.store.update = _unwritable  # type: ignore[method-assign]
        assert await a.tokens.authenticate_token(token)
        assert "cannot record the last use" in caplog.text


async def _unwritable(*_: Any, **__: Any) -> Any:
    raise StoreUnavailable("away")


async def counted(a: Accounts) -> dict[str, str]:
    """Return the token metrics that are not zero."""
    text = (await a.api.client.get("/metrics")).body.decode()
    lines = [line.split() for line in text.splitlines() if line.startswith("serviceaccount_")]
    shown = {name.removeprefix("serviceaccount_").removesuffix("_total"): value for name, value in lines}
    assert len(shown) == 6
    return {name: value for name, value in shown.items() if value != "0.0"}


async def test_old_kinds_of_tokens_are_counted() -> None:
    async with accounts() as a:
        token = await legacy(a)
        await a.tokens.authenticate_token(token)
        assert await counted(a) == {"legacy_tokens": "1.0", "legacy_manual_token_uses": "1.0"}
        robot = "/api/v1/namespaces/default/serviceaccounts/robot"
        await a.api.patch(robot, {"secrets": [{"name": "old"}]})
        await a.tokens.authenticate_token(token)
        label = {"metadata": {"labels": {"kubernetes.io/legacy-token-invalid-since": "2026-01-01"}}}
        await a.api.patch("/api/v1/namespaces/default/secrets/old", label)
        await fault(a, token)
        assert await counted(a) == {
            "legacy_tokens": "3.0",
            "legacy_manual_token_uses": "1.0",
            "legacy_auto_token_uses": "1.0",
            "invalid_legacy_auto_token_uses": "1.0",
        }


async def test_stale_tokens_and_those_in_time_are_counted() -> None:
    async with accounts(IssuePolicy()) as a:
        await pod_of(a)
        token = await a.token({"boundObjectRef": BOUND_TO_POD, "expirationSeconds": 3607})
        await a.tokens.authenticate_token(token)
        assert await counted(a) == {"valid_tokens": "1.0"}
        a.clock.pass_s(3700)
        await a.tokens.authenticate_token(token)
        assert await counted(a) == {"valid_tokens": "1.0", "stale_tokens": "1.0"}


async def test_a_review_returns_user_and_audiences() -> None:
    async with accounts() as a:
        status = await a.review(await a.token({"audiences": ["vault", "api"]}), "vault", "bank")
        assert status["authenticated"] is True
        assert status["audiences"] == ["vault"]
        assert status["user"]["username"] == "system:serviceaccount:default:robot"
        assert status["user"]["uid"]


async def test_a_review_has_managed_fields() -> None:
    async with accounts() as a:
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": "x"}}
        response = await a.api.create("/apis/authentication.k8s.io/v1/tokenreviews", body)
        [entry] = response["metadata"]["managedFields"]
        assert (entry["manager"], entry["fieldsV1"]) == ("tests", {"f:spec": {"f:token": {}}})


async def test_a_review_of_a_token_for_another_audience_returns_the_reason() -> None:
    async with accounts() as a:
        status = await a.review(await a.token(), "vault")
        assert status == {
            "user": {},
            "error": '[invalid bearer token, token audiences ["api"] is invalid for the target audiences ["vault"]]',
        }
        assert await a.review("nonsense") == {"user": {}, "error": "invalid bearer token"}


async def test_a_review_without_a_token_is_a_bad_request() -> None:
    async with accounts() as a:
        response = await a.api.post("/apis/authentication.k8s.io/v1/tokenreviews", {"spec": {}})
        assert response.code == 400
        assert response.message == "token is required for TokenReview in authentication"


def rsa_key() -> SigningKey:
    """An RSA key, as others make them."""
    made = rsa.generate_private_key(65537, 2048)
    return read_signing_key(made.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()))


async def test_keys_may_be_rsa() -> None:
    async with accounts(key=rsa_key()) as a:
        assert await fault(a, await a.token()) == ""


def test_a_file_may_hold_several_keys(tmp_path: Any) -> None:
    file, other = tmp_path / "keys.pem", make_signing_key()
    file.write_bytes(KEY.public_pem() + other.pem())
    assert [key.key_id for key in read_verifying_keys(file)] == [KEY.verifying.key_id, other.verifying.key_id]


def test_a_new_key_is_written_in_the_form_that_kube_apiserver_reads() -> None:
    made = make_signing_key()
    assert made.pem().startswith(b"-----BEGIN EC PRIVATE KEY-----")
    assert read_signing_key(made.pem()).verifying.key_id == made.verifying.key_id


def test_a_file_without_keys_is_an_error(tmp_path: Any) -> None:
    file = tmp_path / "keys.pem"
    file.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="does not contain any valid RSA or ECDSA public keys"):
        read_verifying_keys(file)


def test_other_curves_sign_no_tokens() -> None:
    made = ec.generate_private_key(ec.SECP256K1())
    with pytest.raises(ValueError, match="unknown private key curve"):
        read_signing_key(made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


async def test_other_systems_can_discover_the_keys() -> None:
    async with accounts() as a:
        configuration = (await a.api.get("/.well-known/openid-configuration", **MASTER)).body
        assert configuration["issuer"] == ISSUER
        assert configuration["jwks_uri"] == "https://127.0.0.1:6443/openid/v1/jwks"
        response = await a.api.get("/openid/v1/jwks", **MASTER)
        assert response.response.content_type == "application/jwk-set+json"
        page = await a.api.get("/openid/v1/jwks", accept="text/html, application/json", **MASTER)
        shown = "406: Not Acceptable\n\nAvailable representations: application/jwk-set+json"
        assert (page.code, page.message) == (406, shown)
        assert KEY.verifying.key_id.encode() in response.body


BOOTSTRAP = {
    "token-id": "abcdef",
    "token-secret": "0123456789abcdef",
    "usage-bootstrap-authentication": "true",
    "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
}


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        pytest.param({}, "system:bootstrap:abcdef", id="good"),
        pytest.param({"expiration": "2026-06-01T11:59:59Z"}, "", id="expired"),
        pytest.param({"expiration": "2026-06-01T12:00:01Z"}, "system:bootstrap:abcdef", id="not expired"),
        pytest.param({"usage-bootstrap-authentication": "false"}, "", id="for another use"),
        pytest.param({"token-secret": "0123456789abcdee"}, "", id="another secret"),
        pytest.param({"auth-extra-groups": "system:masters"}, "", id="a group of others"),
    ],
)
async def test_bootstrap_tokens(changed: dict[str, str], name: str) -> None:
    texts = {**BOOTSTRAP, **changed}
    secret = {
        "type": "bootstrap.kubernetes.io/token",
        "metadata": {"name": "bootstrap-token-abcdef", "namespace": "kube-system"},
        "data": {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()},
    }
    tokens = BootstrapTokens(Objects(("secrets", secret)), Clock().seconds)
    found = await tokens.authenticate_token("abcdef.0123456789abcdef")
    assert (found.user.name if found else "") == name
    if found:
        assert found.user.groups == ("system:bootstrappers", BOOTSTRAP["auth-extra-groups"])


async def test_a_bootstrap_token_can_be_reviewed() -> None:
    async with accounts() as a:
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "type": "bootstrap.kubernetes.io/token",
            "metadata": {"name": "bootstrap-token-abcdef"},
            "stringData": BOOTSTRAP,
        }
        await a.create("secrets", secret, "kube-system")
        status = await a.review("abcdef.0123456789abcdef")
        assert status["user"]["username"] == "system:bootstrap:abcdef"
        assert status["audiences"] == ["api"]


async def test_tokens_are_never_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    async with accounts() as a:
        token = await a.token()
        await whoami(a, token)
        await a.api.delete("/api/v1/namespaces/default/serviceaccounts/robot")
        a.clock.pass_s(7200)
        assert await whoami(a, f"{token}x") == 401
        logged = " ".join(str(record.__dict__) for record in caplog.records)
        assert "token refused" in logged
        for part in (token, *token.split(".")[1:]):
            assert part not in logged

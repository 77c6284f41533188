"""ValidatingAdmissionWebhook: refusals, failures, dry runs."""

import asyncio
from typing import Any

import pytest

from tests.server.admission.webhook.hooks import (
    GROUP,
    MAPS,
    Hooks,
    allowing,
    config_map,
    configure,
    denying,
    hook,
    patched,
)
from tests.server.cluster import Api

KIND = "Validating"
NAME = "hook.example.com"


@pytest.mark.parametrize(
    ("status", "code", "reason", "text"),
    [
        ({}, 400, None, f'admission webhook "{NAME}" denied the request without explanation'),
        ({"message": "no"}, 400, None, f'admission webhook "{NAME}" denied the request: no'),
        ({"reason": "Forbidden"}, 400, "Forbidden", f'admission webhook "{NAME}" denied the request: Forbidden'),
        ({"reason": "Odd", "message": "no"}, 400, "Odd", f'admission webhook "{NAME}" denied the request: no'),
        ({"code": 200, "message": "no"}, 400, None, f'admission webhook "{NAME}" denied the request: no'),
        ({"code": 403, "message": "no"}, 403, None, f'admission webhook "{NAME}" denied the request: no'),
        ({"code": 418, "message": "tea"}, 418, None, f'admission webhook "{NAME}" denied the request: tea'),
    ],
    ids=["nothing", "message", "reason", "odd reason", "low code", "code", "any code"],
)
async def test_a_refusal_is_reported(
    api: Api, hooks: Hooks, status: Any, code: int, reason: str | None, text: str
) -> None:
    await configure(api, KIND, hook())
    hooks.responses[NAME] = denying(**status)
    reply = await api.post(MAPS, config_map())
    assert (reply.code, reply.body.get("reason"), reply.message) == (code, reason, text)


async def test_a_refused_object_is_not_stored(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook())
    hooks.responses[NAME] = denying()
    await api.post(MAPS, config_map())
    assert (await api.get(f"{MAPS}/a")).code == 404


async def test_all_are_called_at_the_same_time(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook("a.example.com"), hook("b.example.com"))
    met = asyncio.Event()
    hooks.late["a.example.com"] = met
    hooks.responses["b.example.com"] = lambda request: met.set() or {"allowed": True}  # type: ignore[func-returns-value]
    async with asyncio.timeout(60):
        assert (await api.post(MAPS, config_map())).code == 201


async def test_the_first_refusal_in_order_is_reported(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook("a.example.com"), hook("b.example.com"), hook("c.example.com"))
    hooks.responses |= {name: denying(message=name) for name in ("b.example.com", "c.example.com")}
    assert "b.example.com" in (await api.post(MAPS, config_map())).message
    assert sorted(hooks.names) == ["a.example.com", "b.example.com", "c.example.com"]


async def test_a_failure_refuses(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook())
    hooks.down[NAME] = 'Post "https://127.0.0.1:1/?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused'
    reply = await api.post(MAPS, config_map())
    assert (reply.code, reply.reason) == (500, "InternalError")
    assert reply.message == (
        f'Internal error occurred: failed calling webhook "{NAME}": failed to call webhook: {hooks.down[NAME]}'
    )


async def test_a_failure_may_be_ignored(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook(failurePolicy="Ignore"))
    hooks.down[NAME] = "gone"
    assert (await api.post(MAPS, config_map())).code == 201


@pytest.mark.parametrize(
    ("spoil", "text"),
    [
        (lambda r: r["response"].update(uid="x"), 'expected response.uid="'),
        (lambda r: r.pop("response"), "webhook response was absent"),
        (lambda r: r.pop("kind"), "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got "),
        (lambda r: r.update(kind="Pod"), 'no kind "Pod" is registered for version "admission.k8s.io/v1"'),
        (
            lambda r: r.update(apiVersion="admission.k8s.io/v1beta1"),
            "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion",
        ),
        (lambda r: r["response"].update(patch="e30="), "validating webhook may not return response.patch"),
        (
            lambda r: r["response"].update(patchType="JSONPatch"),
            "validating webhook may not return response.patchType",
        ),
    ],
    ids=["uid", "no response", "no kind", "other kind", "other version", "patch", "patch type"],
)
async def test_an_invalid_review_is_a_failure(api: Api, hooks: Hooks, spoil: Any, text: str) -> None:
    await configure(api, KIND, hook())

    def spoiled(review: Any) -> Any:
        spoil(review)
        return review

    hooks.spoil = spoiled
    reply = await api.post(MAPS, config_map())
    assert reply.code == 500
    assert text in reply.message


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ({"allowed": True, "patch": "W10="}, "webhook returned response.patch but not response.patchType"),
        ({"allowed": True, "patchType": "JSONPatch"}, "webhook returned response.patchType but not response.patch"),
        ({"allowed": True, "patchType": "", "patch": "W10="}, 'webhook returned invalid response.patchType of ""'),
        ({"allowed": True, "patchType": "Merge", "patch": "W10="}, 'unsupported patch type "Merge"'),
        ({"allowed": True, "patchType": "JSONPatch", "patch": "!"}, "illegal base64 data at input byte 0"),
        ({"allowed": True, "patchType": "JSONPatch", "patch": "e30="}, "received undecodable patch"),
    ],
    ids=["no type", "no patch", "empty type", "other type", "no base64", "no list"],
)
async def test_a_patch_that_cannot_be_read_is_a_failure(api: Api, hooks: Hooks, response: Any, text: str) -> None:
    await configure(api, "Mutating", hook())
    hooks.responses[NAME] = lambda request: response
    reply = await api.post(MAPS, config_map())
    assert reply.code == 500
    assert text in reply.message


async def test_a_dry_run_does_not_reach_webhooks_with_side_effects(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook())
    await _with_side_effects(api)
    reply = await api.post(f"{MAPS}?dryRun=All", config_map())
    assert (reply.code, reply.reason) == (400, "BadRequest")
    assert reply.message == f'admission webhook "{NAME}" does not support dry run'
    assert hooks.requested == []


async def _with_side_effects(api: Api) -> None:
    """As one stored before such webhooks were refused."""
    cache = next(c for p, c in api.cluster.caches.items() if p.endswith("validatingwebhookconfigurations/"))
    cache.poll()
    record = cache.list(cache.prefix).records[0]
    row = await api.cluster.store.get(record.key)
    assert row is not None
    value = row.value.replace(b'"sideEffects":"None"', b'"sideEffects":"Some"')
    await api.cluster.store.update(record.key, value, row.mod_revision)


async def test_a_dry_run_reports_the_webhook(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook(sideEffects="NoneOnDryRun"))
    await api.post(f"{MAPS}?dryRun=All", config_map())
    assert hooks.requests[0]["dryRun"] is True
    assert hooks.requests[0]["options"]["dryRun"] == ["All"]


@pytest.mark.parametrize(("fields", "expected"), [({}, 10), ({"timeoutSeconds": 3}, 3)], ids=["default", "own"])
async def test_the_webhook_has_its_own_time(api: Api, hooks: Hooks, fields: Any, expected: float) -> None:
    await configure(api, KIND, hook(**fields))
    await api.create(MAPS, config_map())
    assert hooks.timeouts_s == [expected]


async def test_the_time_of_the_request_is_the_limit(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook())
    await api.create(f"{MAPS}?timeout=2s", config_map())
    assert 0 < hooks.timeouts_s[0] <= 2


async def test_configurations_are_never_reported(api: Api, hooks: Hooks) -> None:
    every = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}
    await configure(api, KIND, hook(rules=[every]))
    await configure(api, "Mutating", hook(rules=[every]))
    hooks.down[NAME] = "gone"
    assert (await api.delete(f"{GROUP}/validatingwebhookconfigurations/hooks")).code == 200
    assert hooks.requested == []


async def test_warnings_and_annotations_are_passed_on(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook())
    hooks.responses[NAME] = lambda request: {"allowed": True, "warnings": ["careful"], "auditAnnotations": {"a": "b"}}
    reply = await api.post(MAPS, config_map())
    assert reply.warnings == ["careful"]


async def test_a_collection_is_deleted_one_by_one_and_without_names(api: Api, hooks: Hooks) -> None:
    for name in ("a", "b"):
        await api.create(MAPS, config_map(name, metadata={"name": name, "labels": {"of": "test"}}))
    await configure(api, KIND, hook())
    await api.delete(f"{MAPS}?labelSelector=of%3Dtest")
    expected = [(request["operation"], "name" in request, request["object"]) for request in hooks.requests]
    assert expected == [("DELETE", False, None)] * 2
    assert [request["oldObject"]["metadata"]["name"] for request in hooks.requests] == ["a", "b"]


async def test_v1beta1_is_used_where_it_comes_first(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook(admissionReviewVersions=["v2", "v1beta1", "v1"]))
    hooks.spoil = lambda review: {**review, "response": {**review["response"], "uid": "", "patch": "eA=="}}
    await api.create(MAPS, config_map())
    assert hooks.requested[0][1]["apiVersion"] == "admission.k8s.io/v1beta1"


async def test_the_metrics_count_calls(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook(), hook("b.example.com", failurePolicy="Ignore"))
    hooks.responses[NAME] = denying(code=403)
    hooks.down["b.example.com"] = "gone"
    await api.post(MAPS, config_map())
    text = (await api.server.metrics.exposition()).decode()
    rejected = f'{{error_type="no_error",name="{NAME}",operation="CREATE",rejection_code="403",type="validating"}} 1.0'
    assert f"apiserver_admission_webhook_rejection_count{rejected}" in text
    assert 'apiserver_admission_webhook_fail_open_count{name="b.example.com",type="validating"} 1.0' in text


async def test_a_patch_of_a_validating_webhook_of_v1beta1_is_overlooked(api: Api, hooks: Hooks) -> None:
    await configure(api, KIND, hook(admissionReviewVersions=["v1beta1"]))
    hooks.responses[NAME] = lambda request: patched({"op": "add", "path": "/data", "value": {"a": "b"}})
    assert "data" not in await api.create(MAPS, config_map())


async def test_a_webhook_may_call_the_server(api: Api, hooks: Hooks) -> None:
    secrets = "/api/v1/namespaces/default/secrets"
    await configure(api, KIND, hook(), hook("inner.example.com"))

    def calling(request: Any) -> Any:
        tasks.append(asyncio.ensure_future(api.create(secrets, {"metadata": {"name": "made"}})))
        return allowing(request)

    tasks: list[asyncio.Future[Any]] = []
    hooks.responses[NAME] = calling
    await api.create(MAPS, config_map())
    assert (await tasks[0])["metadata"]["name"] == "made"

"""Admission over HTTPS, with reviews as kube-apiserver sends them."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from sampan.core import errors
from sampan.core.field import Path, invalid
from sampan.core.gvk import GroupResource, GroupVersionResource
from sampan.operator.webhook import (
    AdmissionRequest,
    AdmissionResponse,
    Denied,
    Finding,
    Findings,
    HookKind,
    Operation,
    Validator,
    allowed,
    current_admission,
    patched,
)
from sampan.resource import ResourceInfo
from tests.operator.webhook.frame import Network, network, patch_of, review, reviewed, running, webhook_server

MUTATE, VALIDATE = "/mutate-net-example-com-v1-network", "/validate-net-example-com-v1-network"
PODS = ResourceInfo(GroupVersionResource("", "v1", "pods"), "Pod", namespaced=True)


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_changes_of_a_mutating_function_become_the_patch(version: str) -> None:
    server = webhook_server()

    @server.mutating(Network)
    def fill_in(obj: Network) -> None:
        obj.spec.gateway = "10.0.0.1"

    async with running(server):
        response = await reviewed(server, MUTATE, review("CREATE", network(), version=version))
    assert response["allowed"] is True
    assert patch_of(response) == [{"op": "add", "path": "/spec/gateway", "value": "10.0.0.1"}]


async def test_a_mutating_function_may_give_another_object_and_wait() -> None:
    server = webhook_server()

    @server.mutating(Network)
    async def replace(obj: Network) -> Network:
        await asyncio.sleep(0)
        return Network(metadata=obj.metadata, spec=type(obj.spec)(cidr="10.1.0.0/24"))

    async with running(server):
        response = await reviewed(server, MUTATE, review("UPDATE", network(), network()))
    assert patch_of(response) == [{"op": "replace", "path": "/spec/cidr", "value": "10.1.0.0/24"}]


async def test_unknown_and_unchanged_fields_are_not_patched() -> None:
    server = webhook_server()

    @server.mutating(Network)
    class FillIn:
        def default(self, obj: Network) -> None:
            obj.spec.routes[0].metric = 5
            obj.metadata.labels["a/b"] = "c"

    given = network(replicas=1, unknown=[1], routes=[{"to": "x", "metric": 0, "more": True}])
    async with running(server):
        response = await reviewed(server, MUTATE, review("CREATE", given))
    assert patch_of(response) == [
        {"op": "add", "path": "/metadata/labels", "value": {"a/b": "c"}},
        {"op": "replace", "path": "/spec/routes/0/metric", "value": 5},
    ]


async def test_nothing_changed_means_no_patch_and_a_delete_is_not_called() -> None:
    server = webhook_server()
    server.register_defaulter(Network, lambda obj: None)
    async with running(server):
        for body in (review("CREATE", network(replicas=1)), review("DELETE", None, network())):
            response = await reviewed(server, MUTATE, body)
            assert (response["allowed"], "patch" in response, response["status"]["code"]) == (True, False, 200)


async def test_a_mutating_function_gets_the_changes_of_the_previous_one() -> None:
    server = webhook_server()

    @server.mutating(Network)
    def first(obj: Network) -> None:
        obj.spec.replicas = 3

    @server.mutating(Network)
    def second(obj: Network) -> None:
        obj.spec.gateway = f"{obj.spec.replicas}"

    async with running(server):
        operations = patch_of(await reviewed(server, MUTATE, review("CREATE", network())))
    assert {operation["path"]: operation["value"] for operation in operations} == {
        "/spec/gateway": "3",
        "/spec/replicas": 3,
    }


class Checks(Validator[Network]):
    def on_create(self, obj: Network) -> Iterator[Finding]:
        yield "gateway is deprecated"
        if not obj.spec.cidr:
            yield invalid(Path("spec", "cidr"), "", "must be a CIDR")

    async def on_update(self, old: Network, new: Network) -> Findings:
        return [] if old.spec.cidr == new.spec.cidr else [invalid(Path("spec", "cidr"), new.spec.cidr, "immutable")]

    def on_delete(self, obj: Network) -> Findings:
        raise Denied(f"{obj.metadata.name} is in use")


@pytest.mark.parametrize(
    ("body", "code", "message", "warnings"),
    [
        (review("CREATE", network()), 200, None, ["gateway is deprecated"]),
        (
            review("CREATE", network(cidr="")),
            422,
            'Network.net.example.com "net" is invalid: spec.cidr: Invalid value: "": must be a CIDR',
            ["gateway is deprecated"],
        ),
        (review("UPDATE", network(), network()), 200, None, None),
        (
            review("UPDATE", network(cidr="x"), network()),
            422,
            'Network.net.example.com "net" is invalid: spec.cidr: Invalid value: "x": immutable',
            None,
        ),
        (review("DELETE", None, network()), 403, "net is in use", None),
        (review("CONNECT", {"kind": "PodExecOptions"}), 200, None, None),
        (review("CREATE", {"spec": 1}), 400, "the object does not fit", None),
        (review("CREATE", None), 400, "the review contains no object", None),
    ],
    ids=["create", "bad create", "update", "bad update", "delete", "connect", "another shape", "nothing"],
)
async def test_a_validator_is_requested_what_happens(body: Any, code: int, message: Any, warnings: Any) -> None:
    server = webhook_server()
    server.validating(Network)(Checks)
    async with running(server):
        response = await reviewed(server, VALIDATE, body)
    assert (response["allowed"], response["status"]["code"]) == (code == 200, code)
    assert response.get("warnings") == warnings
    assert message is None or response["status"]["message"].startswith(message)
    if code == 422:
        assert response["status"]["reason"] == "Invalid"
        assert [cause["field"] for cause in response["status"]["details"]["causes"]] == ["spec.cidr"]


@pytest.mark.parametrize(
    ("error", "code", "reason", "message"),
    [
        (ValueError("no good"), 403, "Forbidden", "no good"),
        (errors.conflict(GroupResource("", "pods"), "a", "later"), 409, "Conflict", None),
        (KeyError("secret"), 500, None, "the webhook failed with KeyError; its log has the details"),
    ],
    ids=["value", "status", "bug"],
)
async def test_an_exception_refuses_the_request(error: Exception, code: int, reason: Any, message: Any) -> None:
    server = webhook_server()

    @server.validating(Network)
    def check(new: Network, old: Network | None) -> None:
        raise error

    async with running(server):
        response = await reviewed(server, VALIDATE, review("CREATE", network()))
    assert (response["allowed"], response["status"]["code"]) == (False, code)
    assert response["status"].get("reason") == reason
    assert message is None or response["status"]["message"] == message


async def test_the_request_has_the_user_and_the_options() -> None:
    server = webhook_server()
    observed: list[AdmissionRequest] = []

    @server.validating(Network)
    def check(new: Network, old: Network | None) -> None:
        assert (old is not None, new.spec.cidr) == (True, "10.0.0.0/24")
        observed.append(current_admission())

    async with running(server):
        body = review("UPDATE", network(), network(replicas=2), dryRun=True, subResource="status")
        await reviewed(server, VALIDATE, body)
    request = observed[0]
    assert (request.user_info.username, request.user_info.extra) == ("ann", {"scopes": ["a", "b"]})
    assert (request.dry_run, request.sub_resource, request.operation) == (True, "status", Operation.UPDATE)
    assert request.old_object == network(replicas=2)
    assert request.options["kind"] == "UpdateOptions"
    assert request.kind.gvk.kind == "Network"
    with pytest.raises(LookupError):
        current_admission()


async def test_a_raw_handler_reviews_any_resource() -> None:
    server = webhook_server()

    async def handle(request: AdmissionRequest) -> AdmissionResponse:
        obj = request.object or {}
        return patched(obj, {**obj, "spec": {"nodeName": "a"}}).with_warnings([request.user_info.username])

    server.register(HookKind.MUTATING, PODS, handle)
    async with running(server):
        response = await reviewed(server, "/mutate--v1-pod", review("CREATE", {"kind": "Pod"}))
    assert patch_of(response) == [{"op": "add", "path": "/spec", "value": {"nodeName": "a"}}]
    assert response["warnings"] == ["ann"]


async def test_objects_of_a_resource_info_are_dicts() -> None:
    server = webhook_server()

    @server.mutating(PODS)
    def fill_in(pod: dict[str, Any]) -> None:
        pod["spec"] = {"x": 1}

    async with running(server):
        response = await reviewed(server, "/mutate--v1-pod", review("CREATE", {"kind": "Pod"}))
    assert patch_of(response) == [{"op": "add", "path": "/spec", "value": {"x": 1}}]


async def test_the_first_no_ends_a_row_of_handlers_and_warnings_add_up() -> None:
    server = webhook_server()
    requested: list[str] = []

    def one(new: Network, old: Network | None) -> Findings:
        requested.append("one")
        return ["careful"]

    def two(new: Network, old: Network | None) -> Findings:
        requested.append("two")
        raise Denied("no")

    def three(new: Network, old: Network | None) -> Findings:
        requested.append("three")
        return []

    for check in (one, two, three):
        server.validating(Network)(check)
    async with running(server):
        response = await reviewed(server, VALIDATE, review("CREATE", network()))
    assert (requested, response["allowed"], response["warnings"]) == (["one", "two"], False, ["careful"])


async def test_audit_annotations_and_messages_travel() -> None:
    server = webhook_server()

    async def handle(request: AdmissionRequest) -> AdmissionResponse:
        return AdmissionResponse(True, allowed("fine").status, audit_annotations={"why": "so"})

    server.register(HookKind.VALIDATING, PODS, handle)
    async with running(server):
        response = await reviewed(server, "/validate--v1-pod", review("CREATE", {}))
    assert (response["auditAnnotations"], response["status"]["message"]) == ({"why": "so"}, "fine")


async def test_a_response_that_cannot_be_written_is_a_no() -> None:
    server = webhook_server()

    async def handle(request: AdmissionRequest) -> AdmissionResponse:
        return patched({}, {"a": object()})

    server.register(HookKind.MUTATING, PODS, handle)
    async with running(server):
        response = await reviewed(server, "/mutate--v1-pod", review("CREATE", {}))
    assert (response["allowed"], response["status"]["code"]) == (False, 500)

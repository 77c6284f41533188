"""Walk over all resources, subresources and verbs of discovery: each admission mechanism covers what Kubernetes' does.

A mechanism that refuses every request is configured, and then every writing request of the server is sent once. A
request that the mechanism does not refuse is one that an administrator cannot restrict with it.

Source: kubernetes test/integration/apiserver/{admissionwebhook,cel} (1.36).
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from sampan.core.object import Object
from sampan.core.tokens.keys import make_signing_key
from sampan.server.authentication.service_account.issuer import TokenIssuer
from sampan.server.authentication.token_service import TokenService
from tests.server.admission.policy.policies import binding, enforce, validating
from tests.server.admission.webhook.hooks import Hooks, configure, denying, hook
from tests.server.cluster import Api, ApiResponse, served
from tests.server.custom_resources import CRDS, crd, shirt, version
from tests.server.smallest import ABSENT, NAMES, Served, served_resources

_TEXT = "refused by the walk"
_EVERYTHING = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}

_POLICIES = {
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "validatingadmissionpolicies",
    "validatingadmissionpolicybindings",
}
_CONFIGURATIONS = {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}
_REVIEWS = {
    "tokenreviews",
    "selfsubjectreviews",
    "subjectaccessreviews",
    "localsubjectaccessreviews",
    "selfsubjectaccessreviews",
    "selfsubjectrulesreviews",
}

_NEEDED: dict[str, Object] = {
    "Binding": {"target": {"kind": "Node", "name": "n"}},
    "TokenReview": {"spec": {"token": "t"}},
    "TokenRequest": {"spec": {"audiences": ["a"]}},
    "SubjectAccessReview": {"spec": {"user": "u", "nonResourceAttributes": {"path": "/", "verb": "get"}}},
    "SelfSubjectAccessReview": {"spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}}},
    "SelfSubjectRulesReview": {"spec": {"namespace": "default"}},
    "LocalSubjectAccessReview": {
        "spec": {"user": "u", "resourceAttributes": {"namespace": "default", "verb": "get", "resource": "pods"}}
    },
}
"""Fields that kinds which are not stored need."""
_VERSIONS = {"Scale": "autoscaling/v1", "Eviction": "policy/v1", "TokenRequest": "authentication.k8s.io/v1"}
_SCALE = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}
_PARTS: dict[str, Any] = {"subresources": {"status": {}, "scale": _SCALE}}
_METHODS = {"create": "POST", "get": "GET", "update": "PUT", "patch": "PATCH", "delete": "DELETE"}
_OPERATIONS = {"create": "CREATE", "update": "UPDATE", "patch": "UPDATE", "delete": "DELETE"}


@dataclass(frozen=True, slots=True)
class Leaf:
    """A verb of a resource or subresource."""

    served: Served
    verb: str
    operation: str

    def __str__(self) -> str:
        each = self.served
        return f"{self.verb} {each.root}/{each.resource}/{each.subresource}".rstrip("/")


async def _leaves(api: Api) -> list[Leaf]:
    """Every verb that admission should see."""
    found = []
    async for each in served_resources(api):
        connects = each.kind.endswith("Options")
        for verb in each.verbs:
            if connects:
                found.append(Leaf(each, verb, "CONNECT"))
            elif verb == "deletecollection" or verb in _OPERATIONS:
                found.append(Leaf(each, verb, _OPERATIONS.get(verb, "DELETE")))
    return found


async def _make_all(api: Api, leaves: list[Leaf]) -> None:
    """Create an object of each resource."""
    for resource in dict.fromkeys(leaf.served for leaf in leaves):
        is_other_event = resource.key == "events"  # the same objects as those of events.k8s.io, with fewer fields
        if not resource.subresource and not is_other_event and "patch" in resource.verbs:
            made = await api.apply(resource.path, _body(resource), "fieldManager=tests&force=true")
            assert made.code in (200, 201), (resource, made.body)


def _body(each: Served) -> Object:
    """The object to create; for a resource that is not stored, the one to post."""
    if each.resource == "shirts":
        return shirt(ABSENT, {"size": 1}, api=each.root.rpartition("/")[2])
    return {**each.smallest(), **_NEEDED.get(each.kind, {})}


async def _send(api: Api, leaf: Leaf) -> ApiResponse:
    each, verb = leaf.served, leaf.verb
    if leaf.operation == "CONNECT":
        return await api.fetch(_METHODS[verb], each.path)
    if verb == "create" and each.subresource:
        body = {"kind": each.kind, "apiVersion": _VERSIONS.get(each.kind, "v1"), **_NEEDED.get(each.kind, {})}
        return await api.post(each.path, {**body, "metadata": {"name": ABSENT}})
    if verb == "create":
        body = _body(each)
        if each.resource in _REVIEWS:
            body["metadata"] = {}
        elif each.kind != "Binding" and each.key not in NAMES:
            body["metadata"] = {**body["metadata"], "name": "another"}
        return await api.post(each.collection, body)
    if verb == "patch":
        return await api.patch(each.path, {"metadata": {"annotations": {"walk": "1"}}})
    if verb == "update":
        parent = each.path.removesuffix(f"/{each.subresource}")
        obj = (await api.get(each.path if "get" in each.verbs else parent)).body
        obj["metadata"]["annotations"] = {"walk": "2"}
        return await api.put(each.path, obj)
    return await api.delete(each.path if verb == "delete" else each.collection)


async def _refusing_webhook(api: Api, kind: str) -> None:
    Hooks(api).responses["walk.example.com"] = denying(message=_TEXT)
    await configure(api, kind, hook("walk.example.com", rules=[_EVERYTHING]), name="walk")


async def _refusing_policy(api: Api) -> None:
    policy = validating("walk", validations=[{"expression": "false", "message": _TEXT}])
    policy["spec"]["matchConstraints"] = {"resourceRules": [_EVERYTHING]}
    await enforce(api, policy, binding("walk", "walk"))


async def _refusing_mutation(api: Api) -> None:
    expression = "[JSONPatch{op: 'remove', path: '/absent/absent'}]"
    policy = {
        "kind": "MutatingAdmissionPolicy",
        "apiVersion": "admissionregistration.k8s.io/v1",
        "metadata": {"name": "walk"},
        "spec": {
            "matchConstraints": {"resourceRules": [_EVERYTHING]},
            "reinvocationPolicy": "Never",
            "failurePolicy": "Fail",
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}],
        },
    }
    bound = {"kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": "walk"}, "spec": {"policyName": "walk"}}
    await enforce(api, policy, {**bound, "apiVersion": policy["apiVersion"]})


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A mechanism to test."""

    refuse: Callable[[Api], Awaitable[None]]
    left_out: set[str]
    """Resources that the mechanism does not see."""
    operations: frozenset[str] = frozenset({"CREATE", "UPDATE", "DELETE", "CONNECT"})
    text: str = _TEXT

    def covers(self, leaf: Leaf) -> bool:
        """Return whether Kubernetes' mechanism sees the request."""
        return leaf.operation in self.operations and leaf.served.resource not in self.left_out


MECHANISMS = {
    "mutating webhooks": Mechanism(lambda api: _refusing_webhook(api, "Mutating"), _POLICIES | _CONFIGURATIONS),
    "validating webhooks": Mechanism(lambda api: _refusing_webhook(api, "Validating"), _POLICIES | _CONFIGURATIONS),
    "validating policies": Mechanism(_refusing_policy, _POLICIES | _REVIEWS),
    "mutating policies": Mechanism(
        _refusing_mutation, _POLICIES | _REVIEWS, frozenset({"CREATE", "UPDATE", "CONNECT"}), "policy 'walk'"
    ),
}


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    """A server that issues tokens."""
    issuing = TokenService(issuer=TokenIssuer("https://issuer", make_signing_key()))
    async with served(identity=lambda _: issuing) as found:
        yield found


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)
async def test_a_mechanism_covers_what_it_covers_in_kubernetes(api: Api, mechanism: Mechanism) -> None:
    await api.create(CRDS, crd(version("v1", **_PARTS), version("v2", storage=False, **_PARTS)))
    leaves = await _leaves(api)
    await _make_all(api, leaves)
    await mechanism.refuse(api)
    wrong = {}
    leaves.sort(key=lambda leaf: (not mechanism.covers(leaf), leaf.operation == "DELETE"))  # the last end the refusals
    for leaf in leaves:
        response = await _send(api, leaf)
        refused = isinstance(response.body, dict) and mechanism.text in response.body.get("message", "")
        if refused is not mechanism.covers(leaf):
            wrong[str(leaf)] = response.code, response.body
    assert wrong == {}
    assert len(leaves) > 400


async def test_a_custom_resource_named_like_an_access_review_needs_a_namespace(api: Api) -> None:
    await api.create(CRDS, crd(names={"plural": "localsubjectaccessreviews", "kind": "Review"}, group="example.com"))
    review = {"kind": "Review", "apiVersion": "example.com/v1", "metadata": {"name": "a"}}
    response = await api.post("/apis/example.com/v1/namespaces/absent/localsubjectaccessreviews", review)
    assert response.message == 'namespaces "absent" not found'

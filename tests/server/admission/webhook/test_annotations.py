"""Annotations about webhooks and policies in the audit event of a request."""

from typing import Any

import orjson

from sampan.server.admission.chain import Attributes
from sampan.server.request import UserInfo
from tests.server.admission.policy.policies import binding, enforce, failing, validating
from tests.server.admission.webhook.hooks import Hooks, adding, config_map, configure, hook
from tests.server.cluster import Api


async def admitted(api: Api) -> Attributes:
    """A ConfigMap after all admission."""
    endpoint = api.cluster.endpoint("", "v1", "configmaps")
    assert endpoint is not None
    obj: Any = config_map(metadata={"name": "a", "namespace": "default"})
    attributes = Attributes(
        *("CREATE", endpoint.gvk, endpoint.gvr, "default", "a", "", UserInfo("jane"), False), obj, endpoint=endpoint
    )
    await api.server.admission.admit(attributes)
    await api.server.admission.validate(attributes)
    return attributes


async def test_mutations_and_patches_are_reported(api: Api, hooks: Hooks) -> None:
    await configure(api, "Mutating", hook("a.example.com", reinvocationPolicy="IfNeeded"), hook("b.example.com"))
    hooks.responses["b.example.com"] = adding("a", "1")
    attributes = await admitted(api)
    expected = {key: orjson.loads(value)["mutated"] for key, value in attributes.annotations.items()}
    prefix = "mutation.webhook.admission.k8s.io/"
    assert expected == {
        f"{prefix}round_0_index_0": False,
        f"{prefix}round_0_index_1": True,
        f"{prefix}round_1_index_0": False,
    }
    assert orjson.loads(attributes.body_annotations["patch.webhook.admission.k8s.io/round_0_index_1"]) == {
        "configuration": "hooks",
        "webhook": "b.example.com",
        "patch": [{"op": "add", "path": "/data", "value": {"a": "1"}}],
        "patchType": "JSONPatch",
    }


async def test_ignored_failures_are_reported(api: Api, hooks: Hooks) -> None:
    await configure(api, "Mutating", hook("a.example.com", failurePolicy="Ignore"))
    await configure(api, "Validating", hook("b.example.com", failurePolicy="Ignore"))
    hooks.down = {"a.example.com": "gone", "b.example.com": "gone"}
    annotations = (await admitted(api)).annotations
    assert annotations["failed-open.mutation.webhook.admission.k8s.io/round_0_index_0"] == "a.example.com"
    assert annotations["failed-open.validating.webhook.admission.k8s.io/round_0_index_0"] == "b.example.com"


async def test_annotations_of_webhooks_have_their_name(api: Api, hooks: Hooks) -> None:
    await configure(api, "Validating", hook("b.example.com"))
    hooks.responses["b.example.com"] = lambda request: {"allowed": True, "auditAnnotations": {"key": "value"}}
    assert (await admitted(api)).annotations == {"b.example.com/key": "value"}


async def test_policies_report_what_they_found(api: Api) -> None:
    noted = [{"key": "name", "valueExpression": "'it is ' + request.name"}, {"key": "no", "valueExpression": "null"}]
    policy = validating(validations=[failing("false", message="no")], auditAnnotations=noted)
    await enforce(api, policy, binding(validationActions=["Audit"]))
    annotations = (await admitted(api)).annotations
    assert annotations["p/name"] == "it is a"
    assert "p/no" not in annotations
    assert orjson.loads(annotations["validation.policy.admission.k8s.io/validation_failure"]) == [
        {"message": "no", "policy": "p", "binding": "b", "expressionIndex": 0, "validationActions": ["Audit"]}
    ]

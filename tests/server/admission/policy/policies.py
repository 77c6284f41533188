"""Policies for tests."""

from typing import Any

from tests.server.cluster import Api

Json = dict[str, Any]

GROUP = "/apis/admissionregistration.k8s.io/v1"
API_VERSION = "admissionregistration.k8s.io/v1"
MAPS = "/api/v1/namespaces/default/configmaps"
EVERY_MAP = {"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}


def config_map(name: str = "a", **fields: Any) -> Json:
    """A ConfigMap."""
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name}, **fields}


def validating(name: str = "p", **spec: Any) -> Json:
    """A ValidatingAdmissionPolicy; it is for ConfigMaps."""
    return {
        "kind": "ValidatingAdmissionPolicy",
        "apiVersion": API_VERSION,
        "metadata": {"name": name},
        "spec": {"matchConstraints": {"resourceRules": [EVERY_MAP]}, **spec},
    }


def binding(name: str = "b", policy: str = "p", **spec: Any) -> Json:
    """A ValidatingAdmissionPolicyBinding; it denies."""
    return {
        "kind": "ValidatingAdmissionPolicyBinding",
        "apiVersion": API_VERSION,
        "metadata": {"name": name},
        "spec": {"policyName": policy, "validationActions": ["Deny"], **spec},
    }


async def enforce(api: Api, policy: Json, *bindings: Json) -> None:
    """Create a policy with its bindings; with one that denies if none is given."""
    plural = policy["kind"].lower().replace("policy", "policies")
    await api.create(f"{GROUP}/{plural}", policy)
    for each in bindings or (binding(),):
        await api.create(f"{GROUP}/{policy['kind'].lower()}bindings", each)


def failing(expression: str = "object.data.a == '1'", **fields: Any) -> Json:
    """One validation as `validations`."""
    return {"expression": expression, **fields}

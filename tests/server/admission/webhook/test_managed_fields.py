"""Changes of a mutating webhook to managedFields, and to a Scale that is applied."""

from typing import Any

import pytest

from tests.server.admission.webhook.hooks import MAPS, Hooks, config_map, configure, hook, patched
from tests.server.cluster import Api

DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
SCALES = {"operations": ["*"], "apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments/scale"]}
WARNING = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating "
    "admission controller; please fix your requests: "
)


def setting(path: str, value: Any) -> Any:
    """Answers with a patch that puts a value somewhere."""
    return lambda request: patched({"op": "add", "path": path, "value": value})


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        ("/metadata/managedFields/0/operation", "Guess", "operation must be `Apply` or `Update`"),
        ("/metadata/managedFields/0/apiVersion", "", "apiVersion must not be empty"),
        ("/metadata/managedFields/0/fieldsType", "", "missing fieldsType in managed fields entry 0"),
    ],
    ids=["operation", "version", "type"],
)
async def test_spoiled_managed_fields_are_as_before_with_a_warning(
    api: Api, hooks: Hooks, path: str, value: str, fault: str
) -> None:
    await configure(api, "Mutating", hook("a.example.com"))
    hooks.responses["a.example.com"] = setting(path, value)
    response = await api.post(MAPS, config_map(data={"a": "1"}))
    assert (response.code, response.warnings) == (201, [WARNING + fault])
    (entry,) = response.metadata["managedFields"]
    assert (entry["operation"], entry["apiVersion"], entry["fieldsType"]) == ("Update", "v1", "FieldsV1")


async def test_well_formed_changes_of_managed_fields_are_taken_over(api: Api, hooks: Hooks) -> None:
    await configure(api, "Mutating", hook("a.example.com"))
    hooks.responses["a.example.com"] = setting("/metadata/managedFields/0/manager", "other")
    response = await api.post(MAPS, config_map(data={"a": "1"}))
    assert (response.metadata["managedFields"][0]["manager"], response.warnings) == ("other", [])


async def test_admission_has_the_last_word_on_a_scale_that_is_applied(api: Api, hooks: Hooks) -> None:
    labels = {"app": "a"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": labels}, "template": template}
    await api.create(
        DEPLOYMENTS, {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "a"}, "spec": spec}
    )
    await configure(api, "Mutating", hook("a.example.com", rules=[SCALES]))
    hooks.responses["a.example.com"] = setting("/spec/replicas", 3)
    scale = {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "a"}, "spec": {"replicas": 9}}
    response = await api.apply(f"{DEPLOYMENTS}/a/scale", scale, "fieldManager=tests&force=true")
    assert (response.code, response.body["spec"]) == (200, {"replicas": 3})
    stored = (await api.get(f"{DEPLOYMENTS}/a")).body
    assert stored["spec"]["replicas"] == 3
    owners = [each["manager"] for each in stored["metadata"]["managedFields"] if each.get("subresource") == "scale"]
    assert owners == ["tests"]

"""From client-side to server-side apply: the requests that kubectl sends on the way (E16, E17)."""

import json
from typing import Any

from tests.server.cluster import Api, ApiResponse
from tests.server.verbs.objects import CONFIG_MAPS

PATH = f"{CONFIG_MAPS}/c"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
CLIENT_SIDE = "kubectl-client-side-apply"


def configuration(data: dict[str, str]) -> Any:
    """Return the object as it is in the user's file."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data}


async def applied_by_client(api: Api, data: dict[str, str]) -> Any:
    """An object as client-side apply creates it."""
    body = configuration(data)
    body["metadata"]["annotations"] = {LAST_APPLIED: json.dumps(configuration(data))}
    return await api.create(f"{CONFIG_MAPS}?fieldManager={CLIENT_SIDE}", body)


def owners(response: ApiResponse) -> dict[tuple[str, str], Any]:
    """Return the fields of each manager, by manager and operation."""
    return {(e["manager"], e["operation"]): e["fieldsV1"] for e in response.metadata["managedFields"]}


def upgrade(obj: Any) -> list[Any]:
    """The patch by which kubectl turns what it updated before into what it applies."""
    (entry,) = obj["metadata"]["managedFields"]
    entries = [{**entry, "manager": "kubectl", "operation": "Apply"}]
    return [
        {"op": "replace", "path": "/metadata/managedFields", "value": entries},
        {"op": "replace", "path": "/metadata/resourceVersion", "value": obj["metadata"]["resourceVersion"]},
    ]


async def test_fields_of_an_update_become_applied_fields(api: Api) -> None:
    made = await applied_by_client(api, {"a": "1", "b": "1"})
    response = await api.patch(PATH, upgrade(made), "json")
    assert response.code == 200
    assert list(owners(response)) == [("kubectl", "Apply")]
    response = await api.apply(PATH, configuration({"a": "2"}), "fieldManager=kubectl")
    assert (response.code, response.body["data"]) == (200, {"a": "2"})
    assert owners(response)["kubectl", "Apply"]["f:data"] == {"f:a": {}}


async def test_an_upgrade_of_an_old_state_conflicts(api: Api) -> None:
    made = await applied_by_client(api, {"a": "1"})
    await api.patch(PATH, {"data": {"b": "1"}})
    response = await api.patch(PATH, upgrade(made), "json")
    assert (response.code, response.reason) == (409, "Conflict")


async def test_kubectl_takes_what_its_annotation_covers(api: Api) -> None:
    await applied_by_client(api, {"a": "1"})
    response = await api.apply(PATH, configuration({"a": "2"}), "fieldManager=kubectl")
    assert (response.code, response.body["data"]) == (200, {"a": "2"})
    assert json.loads(response.metadata["annotations"][LAST_APPLIED])["data"] == {"a": "2"}


async def test_kubectl_does_not_take_what_its_annotation_leaves_out(api: Api) -> None:
    await applied_by_client(api, {"a": "1"})
    await api.patch(f"{PATH}?fieldManager=other", {"data": {"b": "1"}})
    response = await api.apply(PATH, configuration({"b": "2"}), "fieldManager=kubectl")
    assert (response.code, response.reason) == (409, "Conflict")
    assert response.message == 'Apply failed with 1 conflict: conflict with "other" using v1: .data.b'


async def test_another_manager_takes_nothing(api: Api) -> None:
    await applied_by_client(api, {"a": "1"})
    response = await api.apply(PATH, configuration({"a": "2"}), "fieldManager=another")
    assert (response.code, response.reason) == (409, "Conflict")

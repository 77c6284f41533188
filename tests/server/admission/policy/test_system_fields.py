"""Fields that only the server sets in a new object, for every way to create it and every change by admission."""

import pytest

from sampan.core.object import Object
from tests.server.admission.policy.policies import config_map
from tests.server.admission.policy.test_mutating import enforce_all, mutating
from tests.server.cluster import Api, ApiResponse

LIMITS = "/api/v1/namespaces/default/limitranges"
FORGED: Object = {
    "deletionTimestamp": "2001-01-01T00:00:00Z",
    "deletionGracePeriodSeconds": 7,
    "creationTimestamp": "2001-01-01T00:00:00Z",
    "selfLink": "/forged",
    "generation": 41,
}
WAYS = ["post", "apply", "put", "post generated"]
EVERY_LIMIT = {"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["limitranges"]}


async def created(api: Api, way: str, query: str, **metadata: object) -> ApiResponse:
    """Create a LimitRange, of which PUT creates too."""
    body: Object = {"kind": "LimitRange", "apiVersion": "v1", "metadata": {"name": "l", **metadata}}
    if way == "post generated":
        del body["metadata"]["name"]
        body["metadata"]["generateName"] = "l-"
    if way.startswith("post"):
        return await api.post(f"{LIMITS}?{query}", body)
    if way == "put":
        return await api.put(f"{LIMITS}/l?{query}", body)
    return await api.apply(f"{LIMITS}/l", body, f"fieldManager=tests&{query}")


def check(response: ApiResponse) -> None:
    assert response.code == 201, response.body
    metadata = response.metadata
    assert not metadata.keys() & {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}
    assert metadata["creationTimestamp"] > "2020"
    assert metadata["uid"] != "forged"
    assert metadata.get("generation") != 41


@pytest.mark.parametrize("query", ["", "dryRun=All"], ids=["real", "dry run"])
@pytest.mark.parametrize("way", WAYS)
async def test_system_fields_sent_by_a_client_are_dropped(api: Api, way: str, query: str) -> None:
    check(await created(api, way, query, **FORGED, **({"uid": "forged"} if way.startswith("post") else {})))


@pytest.mark.parametrize("way", ["apply", "put"])
async def test_an_update_of_a_forged_uid_creates_nothing(api: Api, way: str) -> None:
    response = await created(api, way, "", uid="forged")
    assert (response.code, response.reason) == (409, "Conflict")
    assert (await api.get(LIMITS)).body["items"] == []


@pytest.mark.parametrize("way", WAYS)
async def test_system_fields_set_by_mutating_admission_are_dropped(api: Api, way: str) -> None:
    sets = ", ".join(
        f"JSONPatch{{op: 'add', path: '/metadata/{name}', value: {value!r}}}"
        for name, value in {**FORGED, "uid": "forged"}.items()
    )
    policy = mutating(f"[{sets}]", matchConstraints={"resourceRules": [EVERY_LIMIT]})
    await enforce_all(api, policy)
    check(await created(api, way, ""))


async def test_an_update_keeps_them(api: Api) -> None:
    made = await api.create("/api/v1/namespaces/default/configmaps", config_map())
    sent = {**made["metadata"], **FORGED, "creationTimestamp": made["metadata"]["creationTimestamp"]}
    del sent["deletionTimestamp"], sent["deletionGracePeriodSeconds"]
    path = f"/api/v1/namespaces/default/configmaps/{made['metadata']['name']}"
    retained = (await api.put(path, {**made, "metadata": sent, "data": {"a": "b"}})).metadata
    assert retained["uid"] == made["metadata"]["uid"]
    assert "selfLink" not in retained
    assert retained.get("generation") != 41
    deleting = await api.patch(path, {"metadata": {"deletionTimestamp": "2001-01-01T00:00:00Z"}})
    assert deleting.code == 422
    assert "field is immutable" in deleting.message

"""An attempt of a write decodes the stored row once."""

from collections.abc import Awaitable, Callable

import pytest

from sampan.registry.rest.store import ResourceStore, row_of
from sampan.registry.write.origin import StoredOrigin
from tests.server.cluster import Api, ApiResponse
from tests.server.verbs.objects import DEPLOYMENTS, deployment

Send = Callable[[Api], Awaitable[ApiResponse]]
PATH = f"{DEPLOYMENTS}/d"
SCALE = {"spec": {"replicas": 3}}


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The rows that were decoded."""
    found: list[bytes] = []
    decode = ResourceStore.decode

    def counted(store: ResourceStore, value: bytes) -> object:
        found.append(value)
        return decode(store, value)

    monkeypatch.setattr(ResourceStore, "decode", counted)
    return found


@pytest.mark.parametrize(
    "send",
    [
        lambda api: api.put(PATH, deployment(replicas=2)),
        lambda api: api.patch(PATH, SCALE, "merge"),
        lambda api: api.patch(PATH, SCALE, "strategic"),
        lambda api: api.patch(PATH, [{"op": "replace", "path": "/spec/replicas", "value": 2}], "json"),
        lambda api: api.apply(PATH, deployment(replicas=1)),
        lambda api: api.patch(f"{PATH}/status", {"status": {"replicas": 1}}, "merge"),
        lambda api: api.patch(f"{PATH}/scale", SCALE, "merge"),
        lambda api: api.delete(PATH),
    ],
    ids=["put", "merge", "strategic", "json", "apply", "status", "scale", "delete"],
)
async def test_the_stored_row_is_decoded_once(api: Api, decoded: list[bytes], send: Send) -> None:
    await api.create(DEPLOYMENTS, deployment())
    decoded.clear()
    response = await send(api)
    assert response.code == 200, response.body
    assert len(decoded) == 1


@pytest.fixture
async def old_row(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Deployment whose first write from now on begins from a row that is not the newest."""
    await api.create(DEPLOYMENTS, deployment())
    endpoint = api.cluster.endpoint("apps", "v1", "deployments")
    assert endpoint is not None
    endpoint.store.cache.poll()
    old = row_of(endpoint.store.cache.get(endpoint.store.key("default", "d")))
    await api.patch(PATH, {"metadata": {"labels": {"a": "b"}}})
    look, looks = StoredOrigin.look, []

    def look_too_late(origin: StoredOrigin) -> None:
        looks.append(origin)
        look(origin)
        if len(looks) == 1:
            origin.row = old

    monkeypatch.setattr(StoredOrigin, "look", look_too_late)


@pytest.mark.usefixtures("old_row")
@pytest.mark.parametrize(
    ("send", "labels"),
    [
        (lambda api: api.put(PATH, deployment(replicas=3)), None),
        (lambda api: api.patch(PATH, SCALE, "merge"), {"a": "b"}),
        (lambda api: api.patch(PATH, SCALE, "strategic"), {"a": "b"}),
        (lambda api: api.apply(PATH, deployment(replicas=3), "fieldManager=tests&force=true"), {"a": "b"}),
    ],
    ids=["put", "merge", "strategic", "apply"],
)
async def test_an_attempt_from_an_old_row_is_repeated_from_the_newest(
    api: Api, decoded: list[bytes], send: Send, labels: dict[str, str] | None
) -> None:
    decoded.clear()
    response = await send(api)
    assert (response.code, len(decoded)) == (200, 2)
    assert (response.body["spec"]["replicas"], response.metadata.get("labels")) == (3, labels)


@pytest.mark.usefixtures("old_row")
async def test_a_scale_of_an_old_row_is_repeated_from_the_newest(api: Api) -> None:
    assert (await api.patch(f"{PATH}/scale", SCALE)).code == 200
    found = (await api.get(PATH)).body
    assert (found["spec"]["replicas"], found["metadata"]["labels"]) == (3, {"a": "b"})


@pytest.mark.usefixtures("old_row")
async def test_a_deletion_of_an_old_row_is_repeated_from_the_newest(api: Api) -> None:
    assert (await api.delete(PATH)).code == 200
    assert (await api.get(PATH)).code == 404


async def test_an_apply_that_meets_a_new_object_does_not_report_a_creation(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await api.create(DEPLOYMENTS, deployment())
    look, looks = StoredOrigin.look, []

    def look_too_late(origin: StoredOrigin) -> None:
        looks.append(origin)
        look(origin)
        if len(looks) == 1:
            origin.row = None

    monkeypatch.setattr(StoredOrigin, "look", look_too_late)
    response = await api.apply(PATH, deployment(replicas=3), "fieldManager=tests&force=true")
    assert (response.code, response.body["spec"]["replicas"], len(looks)) == (200, 3, 2)

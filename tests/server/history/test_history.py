"""Histories of objects, deleted objects, and the newest writes of a resource, on every engine."""

import pytest

from sampan.core.object import Object
from sampan.registry.rest.recent_writes import no_writes
from tests.server.cluster import Api
from tests.server.history.requests import lines_of, query, writes_of
from tests.server.verbs.objects import CONFIG_MAPS, config_map

MAP = f"{CONFIG_MAPS}/a"
OTHER = "/api/v1/namespaces/kube-system/configmaps"


async def changed(api: Api, values: str, path: str = CONFIG_MAPS, name: str = "a") -> list[Object]:
    """Create a ConfigMap, and change it to each value. Return its states."""
    states = [await api.create(path, config_map(name))]
    return states + [(await api.patch(f"{path}/{name}", {"data": {"k": value}})).body for value in values]


async def test_the_revisions_of_an_object_are_its_states_newest_first(api: Api) -> None:
    states = await changed(api, "xyz")
    *writes, end = await lines_of(api, MAP)
    assert [write["object"] for write in writes] == states[::-1]
    assert [write["type"] for write in writes] == ["MODIFIED", "MODIFIED", "MODIFIED", "ADDED"]
    assert [write["resourceVersion"] for write in writes] == [
        state["metadata"]["resourceVersion"] for state in states[::-1]
    ]
    assert end == {"type": "END", "reason": "Created", "continue": ""}


async def test_a_write_has_its_time_user_agent_and_manager(api: Api) -> None:
    await api.post(f"{CONFIG_MAPS}?fieldManager=mine", config_map("a"), user_agent="kubectl/1.36")
    write = (await lines_of(api, MAP))[0]
    assert (write["user"], write["userAgent"], write["manager"]) == ("admin", "kubectl/1.36", "mine")
    assert write["time"][:17] == write["object"]["metadata"]["creationTimestamp"][:17]


async def test_a_write_has_the_trace_id_of_its_request(api: Api) -> None:
    trace = "0af7651916cd43dd8448eb211c80319c"
    await api.post(CONFIG_MAPS, config_map("a"), traceparent=f"00-{trace}-b7ad6b7169203331-01")
    await api.patch(MAP, {"data": {"k": "x"}}, traceparent="nonsense")
    assert [write["traceID"] for write in (await lines_of(api, MAP))[:-1]] == [None, trace]


async def test_without_a_record_times_and_managers_are_those_of_the_object(api: Api) -> None:
    await changed(api, "x")
    api.cluster.recent_writes[:] = no_writes()
    newest, oldest, _ = await lines_of(api, MAP)
    metadata = newest["object"]["metadata"]
    assert (newest["time"], newest["user"], newest["userAgent"]) == (metadata["managedFields"][0]["time"], None, None)
    assert (oldest["time"], oldest["manager"]) == (metadata["creationTimestamp"], "tests")


async def test_pages_show_every_revision_once(api: Api) -> None:
    states = await changed(api, "abcdefghi")
    assert [write["object"] for write in await writes_of(api, MAP, limit=3)] == states[::-1]


@pytest.mark.parametrize(("limit", "reason"), [(3, "Created"), (2, "Limit")], ids=["all", "less"])
async def test_a_limit_is_reported_only_if_there_are_further_writes(api: Api, limit: int, reason: str) -> None:
    await changed(api, "xy")
    assert (await lines_of(api, MAP, limit=limit))[-1]["reason"] == reason


async def test_a_deleted_object_has_its_last_life(api: Api) -> None:
    await changed(api, "x")
    await api.delete(MAP)
    await changed(api, "y")
    last = (await api.get(MAP)).body
    await api.delete(MAP, user_agent="remover/1")
    *writes, _ = await lines_of(api, MAP)
    assert [(write["type"], write["object"]["data"]["k"]) for write in writes] == [
        ("DELETED", "y"),
        ("MODIFIED", "y"),
        ("ADDED", "v"),
    ]
    assert (writes[0]["object"], writes[0]["userAgent"]) == (last, "remover/1")
    assert int(writes[0]["resourceVersion"]) > int(last["metadata"]["resourceVersion"])


async def test_an_object_that_was_created_again_has_only_its_life(api: Api) -> None:
    old = await changed(api, "x")
    await api.delete(MAP)
    new = await changed(api, "z")
    assert [write["object"] for write in (await lines_of(api, MAP))[:-1]] == new[::-1]
    before = int(old[-1]["metadata"]["resourceVersion"]) + 1
    assert await lines_of(api, MAP, before=before) == [{"type": "END", "reason": "Created", "continue": ""}]


async def test_after_a_compaction_the_history_ends_with_the_oldest_state(api: Api) -> None:
    states = await changed(api, "xyz")
    await api.cluster.store.compact(int(states[2]["metadata"]["resourceVersion"]))
    *writes, end = await lines_of(api, MAP)
    assert [write["object"] for write in writes] == states[:1:-1]
    assert end == {"type": "END", "reason": "Expired", "continue": ""}


async def test_deleted_objects_are_listed_with_their_last_states(api: Api) -> None:
    a, b = (await changed(api, "x"))[-1], (await changed(api, "y", name="b"))[-1]
    other = (await changed(api, "", OTHER, "c"))[-1]
    for path in (MAP, f"{CONFIG_MAPS}/b", f"{OTHER}/c"):
        await api.delete(path)
    assert [write["object"] for write in await writes_of(api, CONFIG_MAPS, "deleted")] == [b, a]
    everywhere = await writes_of(api, "/api/v1/configmaps", "deleted", limit=1)
    assert [write["object"] for write in everywhere] == [other, b, a]
    assert {write["type"] for write in everywhere} == {"DELETED"}


async def test_deleted_objects_are_selected_by_label_and_name(api: Api) -> None:
    for name in ("a", "b", "c"):
        await api.create(CONFIG_MAPS, config_map(name, labels={"of": name}))
        await api.delete(f"{CONFIG_MAPS}/{name}")
    by_label = await writes_of(api, CONFIG_MAPS, "deleted", labelSelector="of in (a,c)")
    by_name = await writes_of(api, "/api/v1/configmaps", "deleted", fieldSelector="metadata.name=b")
    assert [write["object"]["metadata"]["name"] for write in by_label + by_name] == ["c", "a", "b"]


async def test_changes_are_the_newest_writes_of_a_namespace_or_of_all(api: Api) -> None:
    await changed(api, "x")
    await changed(api, "", OTHER, "b")
    await api.delete(MAP)
    found = [
        [
            (write["type"], write["object"]["metadata"]["name"])
            for write in await writes_of(api, path, "changes", limit=3)
            if not write["object"]["metadata"]["name"].endswith(".crt")
        ]
        for path in (CONFIG_MAPS, "/api/v1/configmaps")
    ]
    assert found[0][:3] == [("DELETED", "a"), ("MODIFIED", "a"), ("ADDED", "a")]
    assert found[1][:4] == [("DELETED", "a"), ("ADDED", "b"), ("MODIFIED", "a"), ("ADDED", "a")]


@pytest.mark.parametrize("engine", ["memory"])
@pytest.mark.parametrize(
    ("target", "text"),
    [
        (f"{MAP}?{query('all')}", "use revisions, deleted or changes"),
        (f"{MAP}?{query('')}", "use revisions, deleted or changes"),
        (f"{MAP}?{query('deleted')}", "needs the path of a collection"),
        (f"{CONFIG_MAPS}?{query('revisions')}", "needs the path of an object"),
        (f"{MAP}?{query('revisions', labelSelector='a=b')}", "no selectors"),
        (f"{MAP}?{query('revisions', limit=0)}", "1 to 500"),
        (f"{MAP}?{query('revisions', limit=501)}", "1 to 500"),
        (f"{MAP}?{query('revisions', limit='x')}", "invalid"),
        (f"{MAP}?{query('revisions', before='x')}", "not a resourceVersion"),
        (f"{CONFIG_MAPS}?{query('changes', fieldSelector='data=x')}", "not a known field selector"),
        (f"{CONFIG_MAPS}?{query('changes', watch=1)}", "without watch"),
        (f"/api/v1/componentstatuses?{query('changes')}", "not stored"),
    ],
)
async def test_a_wrong_request_is_refused(api: Api, target: str, text: str) -> None:
    await changed(api, "")
    response = await api.get(target)
    assert response.code == 400
    assert text in response.message


@pytest.mark.parametrize("before", ["", 1], ids=["newest", "before a revision"])
async def test_an_object_that_never_was_is_not_found(api: Api, before: object) -> None:
    response = await api.get(f"{MAP}?{query('revisions', before=before)}")
    assert (response.code, response.message) == (404, 'configmaps "a" not found')


@pytest.mark.parametrize("engine", ["memory"])
async def test_a_read_of_a_subresource_ignores_the_parameter(api: Api) -> None:
    path = "/apis/apps/v1/namespaces/default/deployments/a/scale"
    assert (await api.get(f"{path}?{query('revisions')}")).code == 404


@pytest.mark.parametrize("engine", ["memory"])
async def test_a_request_with_any_accept_header_gets_lines(api: Api) -> None:
    await changed(api, "")
    for accept in ("application/x-ndjson", "application/json;as=Table;v=v1;g=meta.k8s.io", "text/html"):
        response = await api.get(f"{MAP}?{query('revisions')}", accept=accept)
        assert (response.code, response.response.content_type) == (200, "application/x-ndjson")

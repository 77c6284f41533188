"""Plain mistakes of clients: what is no resourceVersion, patches that cannot be read, what cannot change.

Source: apiserver pkg/storage/{api_object_versioner,cacher}, pkg/registry/rest/update.go (1.36).
"""

import pytest

from tests.server.cluster import Api
from tests.server.verbs.objects import CONFIG_MAPS, config_map, some_config_maps

_LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
NO_REVISIONS = ["abc", "-1", "1.5", "99999999999999999999"]


def _text(revision: str) -> str:
    reason = "value out of range" if revision.isdigit() else "invalid syntax"
    return f'strconv.ParseUint: parsing "{revision}": {reason}'


@pytest.mark.parametrize("revision", NO_REVISIONS)
@pytest.mark.parametrize("path", [f"{CONFIG_MAPS}/cm-0?", f"{CONFIG_MAPS}/absent?", f"{CONFIG_MAPS}?watch=1&"])
async def test_a_read_of_an_invalid_revision_fails(api: Api, path: str, revision: str) -> None:
    await some_config_maps(api, 1)
    response = await api.get(f"{path}resourceVersion={revision}")
    assert (response.code, response.reason) == (500, "")
    assert response.message == f'resourceVersion: Invalid value: "{revision}": {_text(revision)}'


@pytest.mark.parametrize("revision", NO_REVISIONS)
async def test_a_list_of_an_invalid_revision_is_a_bad_request(api: Api, revision: str) -> None:
    response = await api.get(f"{CONFIG_MAPS}?resourceVersion={revision}")
    assert (response.code, response.reason) == (400, "BadRequest")
    assert response.message.endswith(f'resourceVersion: Invalid value: "{revision}": {_text(revision)}')


async def test_a_list_is_notified_of_its_token_before_its_revision(api: Api) -> None:
    response = await api.get(f"{CONFIG_MAPS}?resourceVersion=x&continue=x")
    assert (response.code, response.message[:22]) == (400, "invalid continue token")


@pytest.mark.parametrize("revision", NO_REVISIONS)
@pytest.mark.parametrize("method", ["put", "patch", "apply", "apply of what is not there", "put of what is not there"])
async def test_an_object_with_an_invalid_revision_is_refused(api: Api, method: str, revision: str) -> None:
    await some_config_maps(api, 1)
    metadata = {"resourceVersion": revision}
    there = {**config_map("cm-0"), "metadata": {"name": "cm-0", **metadata}}
    absent = {**config_map("new"), "metadata": {"name": "new", **metadata}}
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "new", **metadata}}
    response = await {
        "put": lambda: api.put(f"{CONFIG_MAPS}/cm-0", there),
        "patch": lambda: api.patch(f"{CONFIG_MAPS}/cm-0", {"metadata": metadata}),
        "apply": lambda: api.apply(f"{CONFIG_MAPS}/cm-0", there),
        "apply of what is not there": lambda: api.apply(f"{CONFIG_MAPS}/new", absent),
        "put of what is not there": lambda: api.put(f"{_LEASES}/new", lease),
    }[method]()
    assert (response.code, response.reason, response.message) == (500, "", _text(revision))


@pytest.mark.parametrize("revision", ["0", "00", ""])
async def test_a_revision_of_zero_is_that_of_any_object(api: Api, revision: str) -> None:
    await some_config_maps(api, 1)
    changed = {**config_map("cm-0"), "metadata": {"name": "cm-0", "resourceVersion": revision}}
    assert (await api.put(f"{CONFIG_MAPS}/cm-0", changed)).code == 200
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "new"}}
    lease["metadata"] = {"name": "new", "resourceVersion": revision}
    assert (await api.put(f"{_LEASES}/new", lease)).code == 201


async def test_a_revision_may_begin_with_zeros(api: Api) -> None:
    (made,) = await some_config_maps(api, 1)
    made["metadata"]["resourceVersion"] = f"00{made['metadata']['resourceVersion']}"
    assert (await api.put(f"{CONFIG_MAPS}/cm-0", made)).code == 200


@pytest.mark.parametrize(
    ("kind", "body"), [("merge", b"{"), ("merge", b"[]"), ("json", b"{}"), ("json", b"[1]"), ("strategic", b"1")]
)
async def test_a_patch_that_cannot_be_read_is_reported_only_where_there_is_an_object(
    api: Api, kind: str, body: bytes
) -> None:
    await some_config_maps(api, 1)
    assert (await api.patch(f"{CONFIG_MAPS}/cm-0", body, kind)).code == 400
    assert (await api.patch(f"{CONFIG_MAPS}/absent", body, kind)).code == 404

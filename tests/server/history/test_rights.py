"""Histories from the attacker's side: they require `list`, at the scope of the path."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from sampan.core.object import Object
from tests.server.authorization.caches import RBAC, binding, role, user
from tests.server.cluster import Api, served
from tests.server.frame import JANE
from tests.server.history.requests import lines_of, query

SECRETS = "/api/v1/namespaces/default/secrets"
SECRET = f"{SECRETS}/s"
TARGETS = [
    f"{SECRET}?{query('revisions')}",
    f"{SECRETS}?{query('deleted')}",
    f"{SECRETS}?{query('changes')}",
    f"{SECRETS}?{query('changes', fieldSelector='metadata.name=s')}",
    f"/api/v1/secrets?{query('changes')}",
    f"/api/v1/secrets?{query('deleted')}",
]


@pytest.fixture
async def admin() -> AsyncIterator[Api]:
    """Start a server with the history of a Secret, and return its administrator's client."""
    async with served() as admin:
        await admin.create(SECRETS, {"metadata": {"name": "s"}, "stringData": {"password": "old"}})
        await admin.patch(SECRET, {"stringData": {"password": "new"}})
        await admin.create("/api/v1/namespaces", {"metadata": {"name": "other"}})
        yield admin


def rights(verbs: str, resource: str = "secrets") -> Object:
    """Return a rule for a resource of the core group."""
    return {"verbs": verbs.split(), "apiGroups": [""], "resources": [resource]}


async def allow(admin: Api, *rules: Object, namespace: str = "") -> Api:
    """Give jane these rights, in a namespace or in the whole cluster. Return her client."""
    await admin.create(f"/apis/{RBAC}/v1/clusterroles", role("hers", *rules))
    base = (
        f"/apis/{RBAC}/v1/namespaces/{namespace}/rolebindings" if namespace else f"/apis/{RBAC}/v1/clusterrolebindings"
    )
    await admin.create(base, binding("hers", "hers", user("jane"), namespace=namespace))
    return Api(admin.server, JANE)


async def refused(api: Api, targets: list[str]) -> list[str]:
    """Return the targets that are forbidden."""
    return [target for target in targets if (await api.get(target)).code == 403]


@pytest.mark.parametrize(
    ("verbs", "namespace"),
    [
        ("get watch create update patch delete deletecollection", ""),
        ("get list watch", "other"),
    ],
    ids=["without list", "list in another namespace"],
)
async def test_without_list_no_history_is_readable(admin: Api, verbs: str, namespace: str) -> None:
    jane = await allow(admin, rights(verbs), namespace=namespace)
    assert await refused(jane, TARGETS) == TARGETS


async def test_a_user_without_rights_cannot_find_out_if_an_object_existed(admin: Api) -> None:
    jane = Api(admin.server, JANE)
    present, absent = [await jane.get(f"{SECRETS}/{name}?{query('revisions')}") for name in ("s", "t")]
    assert (present.code, absent.code, absent.message) == (403, 403, present.message.replace('"s"', '"t"'))


async def test_the_missing_right_of_an_object_is_named(admin: Api) -> None:
    jane = await allow(admin, rights("get"))
    response = await jane.get(TARGETS[0])
    assert 'User "jane" cannot list resource "secrets" in API group "" in the namespace "default"' in response.message


async def test_list_without_get_does_not_allow_a_read_by_the_parameter(admin: Api) -> None:
    jane = await allow(admin, rights("list"))
    assert (await jane.get(TARGETS[0])).code == 403


async def test_list_in_the_namespace_allows_its_histories_alone(admin: Api) -> None:
    jane = await allow(admin, rights("get list"), namespace="default")
    assert await refused(jane, TARGETS) == [target for target in TARGETS if target.startswith("/api/v1/secrets")]
    passwords = [line["object"]["data"]["password"] for line in (await lines_of(jane, SECRET))[:-1]]
    assert passwords == ["bmV3", "b2xk"]


async def test_list_of_a_single_name_allows_the_history_of_that_object_alone(admin: Api) -> None:
    await admin.create(SECRETS, {"metadata": {"name": "t"}})
    only: Any = {**rights("get list"), "resourceNames": ["s"]}
    jane = await allow(admin, only)
    allowed = [TARGETS[0], TARGETS[3]]
    targets = [*TARGETS, f"{SECRETS}/t?{query('revisions')}"]
    assert await refused(jane, targets) == [target for target in targets if target not in allowed]
    changes = await jane.get(TARGETS[3])
    assert b'"name":"s"' in changes.body
    assert b'"name":"t"' not in changes.body


async def test_the_history_of_a_namespace_requires_list_of_all_namespaces(admin: Api) -> None:
    jane = await allow(admin, rights("*", "namespaces"), namespace="other")
    path = "/api/v1/namespaces/other"
    assert (await jane.get(path)).code == 200
    assert (await jane.get(f"{path}?{query('revisions')}")).code == 403
    assert (await lines_of(admin, path))[0]["object"]["metadata"]["name"] == "other"


@pytest.mark.parametrize("right", [False, True], ids=["without rights", "with list"])
async def test_an_impersonated_user_decides(admin: Api, right: bool) -> None:
    if right:
        await allow(admin, rights("get list"))
    found = [(await admin.get(target, Impersonate_User="jane")).code for target in TARGETS]
    assert set(found) == {200 if right else 403}


async def test_a_write_by_an_impersonated_user_is_theirs(admin: Api) -> None:
    await allow(admin, rights("patch"))
    assert (await admin.patch(SECRET, {"data": {"x": "eA=="}}, Impersonate_User="jane")).code == 200
    assert (await lines_of(admin, SECRET))[0]["user"] == "jane"


async def test_an_anonymous_user_reads_no_history(admin: Api) -> None:
    for target in TARGETS:
        assert (await Api(admin.server, {}).get(target)).code in (401, 403)


async def test_a_selector_that_the_authorizer_saw_is_applied(admin: Api) -> None:
    pods = "/api/v1/namespaces/default/pods"
    for name, node in (("mine", "n1"), ("other", "n2")):
        pod = {"metadata": {"name": name}, "spec": {"nodeName": node, "containers": [{"name": "c", "image": "i"}]}}
        await admin.create(pods, pod)
        await admin.delete(f"{pods}/{name}?gracePeriodSeconds=0")
    for mode in ("changes", "deleted"):
        found = (await lines_of(admin, "/api/v1/pods", mode, fieldSelector="spec.nodeName=n1"))[:-1]
        assert {line["object"]["metadata"]["name"] for line in found} == {"mine"}


async def test_a_history_request_is_authorized_by_its_user_at_each_request(admin: Api) -> None:
    jane = await allow(admin, rights("get list"))
    assert await refused(jane, TARGETS) == []
    await admin.delete(f"/apis/{RBAC}/v1/clusterrolebindings/hers")
    assert await refused(jane, TARGETS) == TARGETS

"""The modes of impersonation: which rights each of them wants, and what it makes of the user."""

import pytest

from sampan.core.errors import StatusError
from sampan.server.impersonation.impersonator import Impersonator
from sampan.server.impersonation.modes import ImpersonatedUser
from sampan.server.request import RequestInfo, UserInfo
from tests.server.impersonation.rights import Rights

BOB = UserInfo("bob")
AGENT = UserInfo(
    "system:serviceaccount:ns:agent", extra={"authentication.kubernetes.io/node-name": ("n1",), "other": ("x",)}
)
LIST_PODS = RequestInfo("/api/v1/pods", "list", is_resource=True, version="v1", resource="pods")
USERS, GROUPS = "users.authentication.k8s.io", "groups.authentication.k8s.io"


async def impersonated(rights: Rights, desired: UserInfo, requester: UserInfo = BOB) -> ImpersonatedUser:
    return await Impersonator(rights).impersonate(requester, desired, LIST_PODS)


async def test_impersonation_can_be_limited_to_one_verb_on_one_resource() -> None:
    rights = Rights("impersonate-on:user-info:list pods", f"impersonate:user-info {USERS} eve")
    found = await impersonated(rights, UserInfo("eve"))
    assert found == ImpersonatedUser(UserInfo("eve", groups=("system:authenticated",)), "impersonate:user-info")


async def test_the_right_to_a_user_alone_allows_no_request() -> None:
    with pytest.raises(StatusError, match='cannot impersonate-on:user-info:list resource "pods"'):
        await impersonated(Rights(f"impersonate:user-info {USERS}"), UserInfo("eve"))


async def test_the_right_to_a_request_alone_allows_no_user() -> None:
    with pytest.raises(StatusError) as refused:
        await impersonated(Rights("impersonate-on:user-info:list pods"), UserInfo("eve"))
    assert refused.value.message == (
        'users.authentication.k8s.io "eve" is forbidden: User "bob" cannot impersonate:user-info resource "users" '
        'in API group "authentication.k8s.io" at the cluster scope'
    )


async def test_the_legacy_verb_suffices_without_constrained_rights() -> None:
    assert (await impersonated(Rights("impersonate users eve"), UserInfo("eve"))).constraint == ""


async def test_uid_groups_and_extra_values_need_separate_rights() -> None:
    rights = Rights(
        "impersonate-on:user-info:list pods",
        f"impersonate:user-info {USERS}",
        "impersonate:user-info uids.authentication.k8s.io 7",
        f"impersonate:user-info {GROUPS} dev",
        "impersonate:user-info userextras/acme.io/scope.authentication.k8s.io read",
    )
    desired = UserInfo("eve", "7", ("dev",), {"acme.io/scope": ("read",)})
    found = await impersonated(rights, desired)
    assert found.user == UserInfo("eve", "7", ("dev", "system:authenticated"), {"acme.io/scope": ("read",)})
    for right in sorted(rights.rights):
        with pytest.raises(StatusError):
            await impersonated(Rights(*(rights.rights - {right})), desired)


async def test_the_right_to_all_groups_replaces_checks_of_many_groups() -> None:
    rights = Rights("impersonate-on:user-info:list pods", f"impersonate:user-info {USERS}")
    rights.rights.add(f"impersonate:user-info {GROUPS} *")
    await impersonated(rights, UserInfo("eve", groups=("a", "b", "c", "d")))
    assert rights.requested[-1] == f"impersonate:user-info {GROUPS} *"


@pytest.mark.parametrize(
    ("desired", "text"),
    [
        (UserInfo("eve", groups=("system:masters",)), "impersonating the system:masters group is not allowed"),
        (UserInfo("eve", groups=("",)), "impersonating the empty string group is not allowed"),
        (UserInfo("eve", extra={"": ("x",)}), "impersonating the empty string key in extra is not allowed"),
        (UserInfo("eve", extra={"scope": ("x",)}), "impersonating an invalid key in extra is not allowed: "),
        (UserInfo("eve", extra={"a.io/B": ("x",)}), "impersonating a non-lowercase key in extra is not allowed: "),
        (UserInfo("eve", extra={"a.io/b": ("",)}), "impersonating the empty string value in extra is not allowed"),
    ],
)
async def test_a_constrained_mode_never_grants_unlimited_rights(desired: UserInfo, text: str) -> None:
    rights = Rights("impersonate-on:user-info:list pods")
    rights.rights |= {
        f"impersonate:user-info {resource}.authentication.k8s.io" for resource in ("users", "groups", "userextras")
    }
    with pytest.raises(StatusError) as refused:
        await impersonated(rights, desired)
    assert text in refused.value.message


async def test_a_service_account_has_its_own_mode() -> None:
    rights = Rights(
        "impersonate-on:serviceaccount:list pods",
        "impersonate:serviceaccount serviceaccounts.authentication.k8s.io ns/robot",
    )
    found = await impersonated(rights, UserInfo("system:serviceaccount:ns:robot"))
    groups = ("system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated")
    assert (found.user.groups, found.constraint) == (groups, "impersonate:serviceaccount")


async def test_a_node_gets_its_group_in_the_node_mode() -> None:
    rights = Rights(
        "impersonate-on:arbitrary-node:list pods", "impersonate:arbitrary-node nodes.authentication.k8s.io n2"
    )
    found = await impersonated(rights, UserInfo("system:node:n2"))
    assert found.user == UserInfo("system:node:n2", groups=("system:nodes", "system:authenticated"))


async def test_a_node_gets_no_group_in_the_legacy_mode() -> None:
    found = await impersonated(Rights("impersonate users"), UserInfo("system:node:n2"))
    assert found.user.groups == ("system:authenticated",)


async def test_a_service_account_may_impersonate_the_node_of_its_pod() -> None:
    rights = Rights(
        "impersonate-on:associated-node:list pods", "impersonate:associated-node nodes.authentication.k8s.io *"
    )
    found = await impersonated(rights, UserInfo("system:node:n1"), AGENT)
    assert (found.user.name, found.constraint) == ("system:node:n1", "impersonate:associated-node")
    keys = ("authentication.kubernetes.io/node-name", "other")
    assert rights.extra[0] == {"authentication.kubernetes.io/associated-node-keys": keys}
    with pytest.raises(StatusError):
        await impersonated(rights, UserInfo("system:node:n2"), AGENT)


async def test_the_mode_that_was_allowed_last_is_tried_first() -> None:
    rights = Rights("impersonate users eve")
    impersonator = Impersonator(rights)
    await impersonator.impersonate(BOB, UserInfo("eve"), LIST_PODS)
    rights.requested.clear()
    await impersonator.impersonate(BOB, UserInfo("eve"), LIST_PODS)
    assert rights.requested == ["impersonate users eve"]


async def test_a_revoked_right_ends_at_once() -> None:
    rights = Rights("impersonate-on:user-info:list pods", f"impersonate:user-info {USERS}")
    impersonator = Impersonator(rights)
    await impersonator.impersonate(BOB, UserInfo("eve"), LIST_PODS)
    rights.rights.clear()
    with pytest.raises(StatusError):
        await impersonator.impersonate(BOB, UserInfo("eve"), LIST_PODS)

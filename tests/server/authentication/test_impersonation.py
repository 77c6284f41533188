"""Impersonate-* headers: necessary rights, and the impersonated user."""

import pytest

from sampan.core.errors import StatusError
from sampan.server.authorization.masters import MastersAuthorizer
from sampan.server.authorization.union import UnionAuthorizer
from sampan.server.filters.impersonation import with_impersonation
from sampan.server.request import Request, Response, UserInfo
from sampan.server.request_info import parse_target
from sampan.wire.http1 import Repeated
from tests.server.requests import make_request

ADMIN = UserInfo("admin", groups=("system:masters", "system:authenticated"))
BOB = UserInfo("bob", groups=("system:authenticated",))


async def no_body(limit: int) -> bytes:
    return b""


async def impersonated(user: UserInfo, headers: dict[str, str]) -> tuple[UserInfo, dict[str, str]]:
    """The user and the headers that reach the handler behind the filter."""
    target = parse_target("GET", b"/api/v1/pods")
    assert target.info is not None
    request = make_request("GET", target.path, "", dict(headers), no_body, target.query, target.info, user)
    reached: list[Request] = []

    async def handler(request: Request) -> Response:
        reached.append(request)
        return Response()

    await with_impersonation(UnionAuthorizer([MastersAuthorizer()]))(handler)(request)
    assert reached[0].user is not None
    return reached[0].user, reached[0].headers


async def test_without_headers_no_user_is_impersonated() -> None:
    assert (await impersonated(ADMIN, {"accept": "*/*"}))[0] is ADMIN


async def test_an_administrator_becomes_the_user_and_loses_all_rights() -> None:
    user, headers = await impersonated(ADMIN, {"impersonate-user": "eve"})
    assert user == UserInfo("eve", groups=("system:authenticated",))
    assert headers == {}


async def test_groups_uid_and_extra_are_impersonated() -> None:
    user, _ = await impersonated(
        ADMIN,
        {
            "impersonate-user": "eve",
            "impersonate-group": Repeated.of(["dev", "ops"]),
            "impersonate-uid": "7",
            "impersonate-extra-acme.com%2fscope": "read",
        },
    )
    assert user == UserInfo("eve", "7", ("dev", "ops", "system:authenticated"), {"acme.com/scope": ("read",)})


async def test_a_service_account_has_its_groups() -> None:
    user, _ = await impersonated(ADMIN, {"impersonate-user": "system:serviceaccount:ns:robot"})
    assert user.groups == ("system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated")


async def test_the_anonymous_user_is_not_authenticated() -> None:
    user, _ = await impersonated(ADMIN, {"impersonate-user": "system:anonymous"})
    assert user.groups == ("system:unauthenticated",)


async def test_a_user_without_the_right_to_impersonate_is_refused() -> None:
    with pytest.raises(StatusError) as refused:
        await impersonated(BOB, {"impersonate-user": "admin", "impersonate-group": "system:masters"})
    assert refused.value.code == 403
    assert refused.value.message == (
        'pods is forbidden: User "bob" cannot impersonate-on:user-info:list resource "pods" in API group "" '
        "at the cluster scope"
    )


@pytest.mark.parametrize(
    ("header", "shown"),
    [
        ("impersonate-group", "Impersonate-Group"),
        ("impersonate-uid", "Impersonate-Uid"),
        ("impersonate-extra-scope", "Impersonate-Extra-Scope"),
    ],
)
async def test_parts_without_a_user_are_a_bad_request(header: str, shown: str) -> None:
    with pytest.raises(StatusError) as refused:
        await impersonated(ADMIN, {header: Repeated.of(["x", "y"])})
    assert refused.value.code == 400
    assert refused.value.message == (
        f"requested {shown} without impersonating a user name: add the header Impersonate-User"
    )


async def test_the_first_of_several_names_applies() -> None:
    assert (await impersonated(ADMIN, {"impersonate-user": Repeated.of(["eve", "mallory"])}))[0].name == "eve"


async def test_names_are_read_as_utf_8() -> None:
    headers = {"impersonate-user": "jürgen".encode().decode("latin-1")}
    assert (await impersonated(ADMIN, headers))[0].name == "jürgen"


@pytest.mark.parametrize(("key", "read"), [("a%2fb", "a/b"), ("a%2", "a%2"), ("a%zz", "a%zz")])
async def test_keys_of_extra_values_are_unescaped_where_that_is_possible(key: str, read: str) -> None:
    user, _ = await impersonated(ADMIN, {"impersonate-user": "eve", f"impersonate-extra-{key}": "x"})
    assert user.extra == {read: ("x",)}

"""Impersonate-* headers, which name the impersonated user.

Source: apiserver pkg/endpoints/filters/impersonation/constrained_impersonation.go (1.36).
"""

from collections.abc import Mapping
from typing import Final

from sampan.core.errors import bad_request
from sampan.core.field import quote
from sampan.server.incoming import extra_key, identity_values
from sampan.server.request import UserInfo

PREFIX: Final = "impersonate-"
_USER, _GROUP, _UID, _EXTRA = "impersonate-user", "impersonate-group", "impersonate-uid", "impersonate-extra-"


def desired_user(headers: dict[str, str]) -> UserInfo | None:
    """Return the user that the headers name, or None, and remove the headers.

    Raises 400 if the headers contain parts of a user but no user name.
    """
    values = {name: identity_values(value) for name, value in headers.items() if name.startswith(PREFIX)}
    name, uid = values.get(_USER, ("",))[0], values.get(_UID, ("",))[0]
    groups = values.get(_GROUP, ())
    extra = _extra(values)
    if not name:
        if groups or uid or extra:
            raise bad_request(f"requested {_shown(uid, groups, extra)} without impersonating a user name")
        return None
    for header in values:
        if header in (_USER, _GROUP, _UID) or header.startswith(_EXTRA):
            del headers[header]
    return UserInfo(name, uid, groups, extra)


def _extra(values: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    extra: dict[str, tuple[str, ...]] = {}
    for header, parts in values.items():
        if header.startswith(_EXTRA):
            key = extra_key(header[len(_EXTRA) :])
            extra[key] = (*extra.get(key, ()), *parts)
    return extra


def _shown(uid: str, groups: tuple[str, ...], extra: Mapping[str, tuple[str, ...]]) -> str:
    """Return the parts of a user as Go's %#v formats them."""
    parts = (
        'Name:""',
        f"UID:{quote(uid)}",
        f"Groups:{_strings(groups) if groups else '[]string(nil)'}",
        f"Extra:{_string_lists(extra) if extra else 'map[string][]string(nil)'}",
    )
    return f"&user.DefaultInfo{{{', '.join(parts)}}}"


def _strings(values: tuple[str, ...]) -> str:
    return f"[]string{{{', '.join(quote(value) for value in values)}}}"


def _string_lists(extra: Mapping[str, tuple[str, ...]]) -> str:
    items = ", ".join(f"{quote(key)}:{_strings(extra[key])}" for key in sorted(extra))
    return f"map[string][]string{{{items}}}"

"""Impersonate-* headers, which name the impersonated user.

Source: apiserver pkg/endpoints/filters/impersonation/constrained_impersonation.go (1.36).
"""

from collections.abc import Mapping
from typing import Final

from sampan.core.errors import bad_request
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
            shown = ", ".join(header.title() for header in sorted(values) if _names_user(header))
            raise bad_request(f"requested {shown} without impersonating a user name: add the header Impersonate-User")
        return None
    for header in values:
        if _names_user(header):
            del headers[header]
    return UserInfo(name, uid, groups, extra)


def _names_user(header: str) -> bool:
    return header in (_USER, _GROUP, _UID) or header.startswith(_EXTRA)


def _extra(values: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    extra: dict[str, tuple[str, ...]] = {}
    for header, parts in values.items():
        if header.startswith(_EXTRA):
            key = extra_key(header[len(_EXTRA) :])
            extra[key] = (*extra.get(key, ()), *parts)
    return extra

"""Which Node a user is. Source: kubernetes pkg/auth/nodeidentifier/default.go (1.36)."""

from typing import Final

from sampan.server.request import UserInfo

GROUP: Final = "system:nodes"
PREFIX: Final = "system:node:"


def node_name_of(user: UserInfo | None) -> str | None:
    """The Node's name; None when the user is no Node."""
    if user is None or not user.name.startswith(PREFIX) or GROUP not in user.groups:
        return None
    return user.name.removeprefix(PREFIX)

"""Users of Nodes. Source: kubernetes pkg/auth/nodeidentifier/default.go (1.36)."""

from typing import Final

from sampan.server.request import UserInfo

GROUP: Final = "system:nodes"
PREFIX: Final = "system:node:"


def node_name_of(user: UserInfo | None) -> str | None:
    """Return the name of the user's Node; None if the user is not a Node."""
    if user is None or not user.name.startswith(PREFIX) or GROUP not in user.groups:
        return None
    return user.name.removeprefix(PREFIX)

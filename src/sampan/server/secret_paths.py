"""Paths that contain a secret: those of the dashboard's links to ports."""

from typing import Final

PORT_LINKS: Final = "/dashboard/ports/"
"""Beginning of the paths of links. The next segment is the secret of the link."""


def loggable(target: str) -> str:
    """Return a path, or a target with its query, as logs may contain it."""
    return f"{PORT_LINKS}…" if target.startswith(PORT_LINKS) else target

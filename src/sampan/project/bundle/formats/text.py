"""Texts of manifests."""

from collections.abc import Iterable
from typing import Final

from sampan.resource import Object
from sampan.wire import yaml

HEADER: Final = "# Written by `sampan bundle`. Change the code, or [tool.sampan] in pyproject.toml, and run it again.\n"


def yaml_text(objects: Iterable[Object]) -> str:
    """Return a YAML file with the objects, in this order and with sorted keys."""
    return HEADER + "---\n".join(yaml.encode(each).decode() for each in objects)

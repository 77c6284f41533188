"""Samples of a project as examples of a bundle."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from sampan.project.errors import ProjectError
from sampan.resource import Object
from sampan.wire import yaml

_FOLDER: Final = "samples"
_BYTES_MAX: Final = 1 << 20
_SEPARATOR: Final = "\n---\n"


def samples_of(root: Path, owned: Collection[tuple[str, str]]) -> list[Object]:
    """Return the samples of the kinds that the operator owns. `owned` has their apiVersions and kinds.

    Raises `ProjectError` for a broken file.
    """
    found = (each for each in _objects(root / _FOLDER) if (each.get("apiVersion"), each.get("kind")) in owned)
    return sorted(found, key=lambda each: (each["kind"], each["apiVersion"], each["metadata"]["name"]))


def _objects(folder: Path) -> Iterator[Object]:
    for place in sorted([*folder.glob("*.yaml"), *folder.glob("*.yml"), *folder.glob("*.json")]):
        if place.stat().st_size > _BYTES_MAX:
            raise ProjectError(f"{place} has more than {_BYTES_MAX} bytes")
        for text in ("\n" + place.read_text()).split(_SEPARATOR):
            try:
                found = yaml.decode(text.encode())
            except ValueError as error:
                raise ProjectError(f"{place} is no valid YAML: {error}") from error
            if isinstance(found, dict) and isinstance(found.get("metadata"), dict) and "name" in found["metadata"]:
                yield found

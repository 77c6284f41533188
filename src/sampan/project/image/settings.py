"""`ImageSettings`: the table `[tool.sampan.image]` with the fields of `[project]` that an image needs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sampan.oci.descriptor import Platform
from sampan.oci.errors import OciError
from sampan.oci.reference import Reference
from sampan.project.errors import ProjectError
from sampan.project.pyproject import FILE, Settings, parse

TABLE: Final = "tool.sampan.image"
USER: Final = 65532
"""User of the container, as in distroless images: not root, and not in /etc/passwd of most bases."""
ARCHITECTURES: Final = ("amd64", "arm64")
_GLIBC: Final = "2.28"
_KEYS: Final = frozenset({"name", "base", "python", "platforms", "user", "env", "labels", "glibc"})
_is_version = re.compile(r"\d+\.\d+").fullmatch
_TABLE_HEAD: Final = re.compile(rf"^\[{re.escape(TABLE)}\][^\n]*\n", re.MULTILINE)
_BASE_LINE: Final = re.compile(r"^base\s*=[^\n]*\n", re.MULTILINE)
_NEXT_TABLE: Final = re.compile(r"^\[", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ImageSettings:
    """Everything that decides the content of an image, except files and locked wheels."""

    project: Settings
    name: Reference
    """Name and tag; the tag is the project's version unless the setting has one."""
    version: str
    description: str
    dependencies: tuple[str, ...]
    base: str
    """Base image: a name with a digest, or the path of a layout or of a root file system. Empty: not chosen yet."""
    python: str
    """Version of the base's Python: `3.13`. Empty: from the base's environment."""
    platforms: tuple[Platform, ...]
    user: int
    environment: Mapping[str, str]
    labels: Mapping[str, str]
    glibc: str
    """Oldest glibc of the base, which decides which wheels fit."""

    @property
    def root(self) -> Path:
        """Folder of the project."""
        return self.project.root

    @property
    def lock(self) -> Path:
        """File with the locked wheels. Source: packaging.python.org pylock.toml."""
        return self.root / "pylock.toml"


def image_settings(project: Settings, changes: Mapping[str, Any] = {}) -> ImageSettings:
    """Return the settings of a project's image. `changes`: values that replace those of the file.

    Raises `ProjectError` that names the setting.
    """
    place = project.root / FILE
    content = parse(place.read_text(), place)
    metadata, tools = content.get("project", {}), content.get("tool", {})
    table = tools.get("sampan", {}).get("image", {})
    if not isinstance(table, dict):
        raise ProjectError(f"{place}: {TABLE} is no table")
    unknown = sorted(set(table) - _KEYS)
    if unknown:
        raise ProjectError(f"{place}: unknown {TABLE}.{unknown[0]}; there are {', '.join(sorted(_KEYS))}")
    reader = _Reader(place, {**table, **changes})
    version = str(metadata.get("version", "0"))
    python, glibc = reader.text("python"), reader.text("glibc", _GLIBC)
    for key, value in (("python", python), ("glibc", glibc)):
        if value and _is_version(value) is None:
            raise ProjectError(f'{place}: {TABLE}.{key} must be like "3.13", not {value!r}')
    return ImageSettings(
        project=project,
        name=_name(place, reader.text("name") or str(metadata.get("name", project.package)), version),
        version=version,
        description=str(metadata.get("description", "")),
        dependencies=tuple(str(each) for each in metadata.get("dependencies", [])),
        base=reader.text("base"),
        python=python,
        platforms=tuple(
            _platform(place, each) for each in reader.texts("platforms", [f"linux/{a}" for a in ARCHITECTURES])
        ),
        user=reader.number("user", USER),
        environment=reader.mapping("env"),
        labels=reader.mapping("labels"),
        glibc=glibc,
    )


class _Reader:
    """Typed access to the table."""

    def __init__(self, place: Path, table: Mapping[str, Any]) -> None:
        self._place, self._table = place, table

    def text(self, key: str, default: str = "") -> str:
        return str(self._checked(key, str, default, "a text"))

    def number(self, key: str, default: int) -> int:
        found = self._checked(key, int, default, "a number")
        if isinstance(found, bool) or not 0 < found < 1 << 31:
            raise ProjectError(f"{self._place}: {TABLE}.{key} must be the number of a user other than root")
        return int(found)

    def texts(self, key: str, default: list[str]) -> list[str]:
        found = self._checked(key, list, default, "a list of texts")
        if not found or not all(isinstance(each, str) for each in found):
            raise ProjectError(f"{self._place}: {TABLE}.{key} must be a list of texts, with at least one")
        return list(found)

    def mapping(self, key: str) -> dict[str, str]:
        found = self._checked(key, dict, {}, "a table of texts")
        if not all(isinstance(each, str) for each in found.values()):
            raise ProjectError(f"{self._place}: {TABLE}.{key} must be a table of texts")
        return dict(found)

    def _checked(self, key: str, kind: type, default: Any, expected: str) -> Any:
        found = self._table.get(key, default)
        if not isinstance(found, kind):
            raise ProjectError(f"{self._place}: {TABLE}.{key} must be {expected}")
        return found


def _name(place: Path, name: str, version: str) -> Reference:
    last = name.rpartition("/")[2]
    try:
        return Reference.parse(name if ":" in last else f"{name}:{version.replace('+', '-')}")
    except OciError as error:
        raise ProjectError(f"{place}: {TABLE}.name: {error}") from None


def _platform(place: Path, text: str) -> Platform:
    system, _, architecture = text.partition("/")
    if system != "linux" or architecture not in ARCHITECTURES:
        known = ", ".join(f"linux/{each}" for each in ARCHITECTURES)
        raise ProjectError(f"{place}: {TABLE}.platforms: {text!r} is unknown; there are {known}")
    return Platform(architecture)


def set_base(root: Path, base: str) -> None:
    """Write the base image into pyproject.toml. All other lines stay as they are.

    Raises `ProjectError` if the table is in another form than `[tool.sampan.image]`.
    """
    place = root / FILE
    text = changed = place.read_text()
    line = f'base = "{base}"\n'
    head = _TABLE_HEAD.search(text)
    if head is None:
        changed = f"{text.rstrip()}\n\n[{TABLE}]\n{line}"
    else:
        after = _NEXT_TABLE.search(text, head.end())
        end = after.start() if after else len(text)
        body, count = _BASE_LINE.subn(lambda _: line, text[head.end() : end], count=1)
        changed = text[: head.end()] + (body if count else line + body) + text[end:]
    try:
        written = parse(changed, place)["tool"]["sampan"]["image"]["base"]
    except (ProjectError, LookupError, TypeError):
        written = ""
    if written != base:
        raise ProjectError(f'{place}: write base = "{base}" into the table [{TABLE}], and run this again')
    place.write_text(changed)

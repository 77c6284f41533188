"""`OlmSettings`: the table `[tool.sampan.olm]`, with what catalogues show from `[project]`."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sampan.project.errors import ProjectError
from sampan.project.pyproject import FILE, Settings, parse
from sampan.project.versions import semantic_version

TABLE: Final = "tool.sampan.olm"
_KEYS: Final = frozenset(
    {"channels", "default-channel", "display-name", "provider", "provider-url", "icon", "maturity", "replaces",
     "categories", "capabilities"}
)  # fmt: skip
_MEDIA_TYPES: Final = {".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".gif": "image/gif"}
_ICON_BYTES_MAX: Final = 256 * 1024
"""A bundle must fit into a ConfigMap, which may have 1 MiB."""
LEVELS: Final = ("Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot")
"""Capability levels of OperatorHub. Source: operator-framework/api pkg/validation (0.45)."""
_SUMMARY_MAX: Final = 135
"""Length that OperatorHub shows."""
_is_channel = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?").fullmatch


@dataclass(frozen=True, slots=True)
class Icon:
    """Picture of the operator. `data` is base64."""

    data: str
    media_type: str


@dataclass(frozen=True, slots=True)
class OlmSettings:
    """Facts of an operator that catalogues show."""

    version: str
    channels: tuple[str, ...]
    default_channel: str
    display_name: str
    summary: str
    """One line, of at most 135 characters."""
    description: str
    """Markdown: the README of the project."""
    provider: str
    provider_url: str
    icon: Icon
    maturity: str
    replaces: str
    """Name of the bundle that this one replaces: `boats.v0.1.0`. Empty: none."""
    categories: tuple[str, ...]
    capabilities: str
    keywords: tuple[str, ...]
    maintainers: tuple[Mapping[str, str], ...]
    links: tuple[Mapping[str, str], ...]


def olm_settings(project: Settings, name: str) -> OlmSettings:
    """Return the settings. `name`: that of the package. Raises `ProjectError` that names the setting."""
    place = project.root / FILE
    content = parse(place.read_text(), place)
    table, metadata = content.get("tool", {}).get("sampan", {}).get("olm", {}), content.get("project", {})
    if not isinstance(table, dict):
        raise ProjectError(f"{place}: {TABLE} is no table")
    if unknown := sorted(set(table) - _KEYS):
        raise ProjectError(f"{place}: unknown {TABLE}.{unknown[0]}; there are {', '.join(sorted(_KEYS))}")
    reader = _Reader(place, table)
    version = semantic_version(str(metadata.get("version", "0")))
    maturity = reader.text("maturity", _maturity(version))
    channels = reader.texts("channels", [maturity])
    if not channels or any(_is_channel(each) is None for each in channels):
        raise ProjectError(f'{place}: {TABLE}.channels must be a list of names, such as ["stable"]')
    default = reader.text("default-channel", channels[0])
    if default not in channels:
        raise ProjectError(f"{place}: {TABLE}.default-channel {default!r} is none of the channels")
    level = reader.text("capabilities", LEVELS[0])
    if level not in LEVELS:
        raise ProjectError(f"{place}: {TABLE}.capabilities must be one of {', '.join(LEVELS)}")
    authors = [each for each in metadata.get("authors", []) if isinstance(each, dict)]
    maintainers = [each for each in metadata.get("maintainers", authors) if isinstance(each, dict)]
    return OlmSettings(
        version=version,
        channels=tuple(channels),
        default_channel=default,
        display_name=reader.text("display-name", name.replace("-", " ").capitalize()),
        summary=(str(metadata.get("description", "")) or f"The operator {name}").split("\n")[0][:_SUMMARY_MAX],
        description=_description(project.root, metadata),
        provider=reader.text("provider", next((str(each["name"]) for each in authors if "name" in each), name)),
        provider_url=reader.text("provider-url"),
        icon=_icon(place, reader.text("icon"), name),
        maturity=maturity,
        replaces=reader.text("replaces"),
        categories=tuple(reader.texts("categories", [])),
        capabilities=level,
        keywords=tuple(str(each) for each in metadata.get("keywords", [name])),
        maintainers=tuple(
            {"name": str(each.get("name", each["email"])), "email": str(each["email"])}
            for each in maintainers
            if "email" in each
        ),
        links=tuple({"name": key, "url": str(url)} for key, url in metadata.get("urls", {}).items()),
    )


def _maturity(version: str) -> str:
    """Return the maturity that a version suggests."""
    if version.startswith("0."):
        return "alpha"
    return "beta" if "-" in version else "stable"


def _description(root: Path, metadata: Mapping[str, Any]) -> str:
    readme = metadata.get("readme", "")
    place = root / str(readme.get("file", "") if isinstance(readme, dict) else readme)
    if place.is_file():
        return place.read_text()
    return str(metadata.get("description", "")) or "An operator made with Sampan."


def _icon(pyproject: Path, name: str, operator: str) -> Icon:
    """Return the picture of a file of the project, or one with the first letter of the operator."""
    if not name:
        return Icon(
            base64.b64encode(_PICTURE.replace("LETTER", operator[0].upper()).encode()).decode(), "image/svg+xml"
        )
    place = pyproject.parent / name
    media_type = _MEDIA_TYPES.get(place.suffix.lower())
    if media_type is None:
        raise ProjectError(f"{pyproject}: {TABLE}.icon must be one of *{', *'.join(_MEDIA_TYPES)}, not {name!r}")
    try:
        size = place.stat().st_size
        if size > _ICON_BYTES_MAX:
            raise ProjectError(f"{place} has {size} bytes; an icon may have {_ICON_BYTES_MAX}")
        return Icon(base64.b64encode(place.read_bytes()).decode(), media_type)
    except OSError as error:
        raise ProjectError(f"{pyproject}: {TABLE}.icon: cannot read {place}: {error.strerror}") from error


_PICTURE: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="12" fill="#1b6ca8"/>'
    '<text x="32" y="44" font-family="sans-serif" font-size="36" text-anchor="middle" fill="#fff">LETTER</text></svg>'
)


class _Reader:
    """Typed access to the table."""

    def __init__(self, place: Path, table: Mapping[str, Any]) -> None:
        self._place, self._table = place, table

    def text(self, key: str, default: str = "") -> str:
        found = self._table.get(key, default)
        if not isinstance(found, str):
            raise ProjectError(f"{self._place}: {TABLE}.{key} must be a text")
        return found

    def texts(self, key: str, default: list[str]) -> list[str]:
        found = self._table.get(key, default)
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise ProjectError(f"{self._place}: {TABLE}.{key} must be a list of texts")
        return found

"""The file pyproject.toml: settings of a project, and additions that leave everything else as it is."""

import re
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sampan.core.json.values import same
from sampan.project.errors import ProjectError

FILE: Final = "pyproject.toml"
_PROJECT: Final = re.compile(r"^\[project\][^\n]*\n(?:[^\[\n][^\n]*\n)*", re.MULTILINE)
"""The header of the table, with the lines up to an empty one or the next table."""
_HEADER: Final = re.compile(r"^\[project\][^\n]*\n", re.MULTILINE)
_RULE_KEYS: Final = ("apiGroups", "namespaces", "nonResourceURLs", "resourceNames", "resources", "verbs")
_RULE: Final = ", ".join(_RULE_KEYS)
_DEPENDENCIES: Final = re.compile(r"^dependencies\s*=\s*\[", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Settings:
    """The table `[tool.sampan]`."""

    root: Path
    package: str
    group: str
    rbac: tuple[Mapping[str, Any], ...] = ()
    """Rules of the operator's role beyond those that its code declares. `namespaces` limits one to Roles there."""
    ci: tuple[tuple[str, ...], ...] = ()
    """Commands of the project's own checks, as words."""

    @property
    def source(self) -> Path:
        """Folder that contains the import package."""
        return self.root / "src" if (self.root / "src" / self.package).is_dir() else self.root


def parse(text: str, place: Path) -> dict[str, Any]:
    """Return the content. Raises `ProjectError` with the place of a fault."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProjectError(f"{place} is no valid TOML: {error}") from error


def find_project(start: Path) -> Settings | None:
    """Return the settings of the project that contains a folder, or None. Raises `ProjectError` for a broken file."""
    for folder in (start, *start.parents):
        place = folder / FILE
        if place.is_file():
            try:
                content = parse(place.read_text(), place)
            except (OSError, UnicodeDecodeError) as error:
                raise ProjectError(f"cannot read {place}: {error}") from error
            if isinstance(found := content.get("tool", {}).get("sampan"), dict):
                return _settings(found, folder)
    return None


def project_at(start: Path) -> Settings:
    """Return the settings of the project that contains a folder. Raises `ProjectError` if there is none."""
    found = find_project(start)
    if found is None:
        raise ProjectError(f"{start} is in no project: begin one with sampan init NAME")
    return found


def _settings(table: Mapping[str, Any], folder: Path) -> Settings:
    place = folder / FILE
    for key in ("package", "group"):
        if not isinstance(table.get(key), str):
            raise ProjectError(f"{place}: tool.sampan.{key} is missing or no text")
    rules = table.get("rbac", [])
    if not isinstance(rules, list) or not all(isinstance(each, dict) and "verbs" in each for each in rules):
        raise ProjectError(f"{place}: tool.sampan.rbac is no list of rules with apiGroups, resources and verbs")
    for rule in rules:
        for key, values in rule.items():
            if (
                key not in _RULE_KEYS
                or not isinstance(values, list)
                or not all(isinstance(each, str) for each in values)
            ):
                raise ProjectError(f"{place}: tool.sampan.rbac: {key} must be one of {_RULE}, and a list of texts")
    return Settings(folder, table["package"], table["group"], tuple(rules), _commands(table.get("ci", []), place))


def _commands(texts: Any, place: Path) -> tuple[tuple[str, ...], ...]:
    """Return the words of each command. Raises `ProjectError` if one is empty, or has an open quotation mark."""
    try:
        found = tuple(tuple(shlex.split(text)) for text in texts) if isinstance(texts, list) else ((),)
    except (ValueError, TypeError, AttributeError):
        found = ((),)
    if not all(found):
        raise ProjectError(f'{place}: tool.sampan.ci is no list of commands: ci = ["vulture src"]')
    return found


def with_tables(text: str, tables: Mapping[str, str], requirement: str, place: Path) -> str:
    """Return the file with the missing tables and the dependency added; other lines stay as they are.

    Raises `ProjectError` if the file is broken, or if the dependency has no place.
    """
    content = parse(text, place)
    distribution = re.split(r"[^A-Za-z0-9._-]", requirement)[0]
    project = content.get("project", {})
    present = [re.split(r"[^A-Za-z0-9._-]", each)[0].lower() for each in project.get("dependencies", [])]
    if distribution not in present and "dependencies" not in project.get("dynamic", []):
        text = _with_dependency(text, content, requirement, place)
    for name, body in tables.items():
        if not _has(content, name):
            text = f"{text.rstrip()}\n\n[{name}]\n{body}" if text.strip() else f"[{name}]\n{body}"
    parse(text, place)
    return text


def _has(content: Mapping[str, Any], name: str) -> bool:
    inner: Any = content
    for part in name.split("."):
        if not isinstance(inner, Mapping) or part not in inner:
            return False
        inner = inner[part]
    return True


def _is_valid(text: str, dependencies: list[str]) -> bool:
    """Return True if the file has exactly these dependencies."""
    try:
        return same(tomllib.loads(text).get("project", {}).get("dependencies"), dependencies)
    except tomllib.TOMLDecodeError:
        return False


def _with_dependency(text: str, content: Mapping[str, Any], requirement: str, place: Path) -> str:
    before = content.get("project", {}).get("dependencies")
    if before is None and "project" in content:
        line = f'dependencies = ["{requirement}"]\n'
        changed = _PROJECT.sub(lambda found: f"{found[0].rstrip()}\n{line}", text, count=1)
        if not _is_valid(changed, [requirement]):  # the empty line is inside of a value
            changed = _HEADER.sub(lambda found: found[0] + line, text, count=1)
    elif before is None:
        return text  # a file only with settings of tools: there is no distribution
    else:
        more = "" if not before else ","
        changed = _DEPENDENCIES.sub(lambda found: f'{found[0]}"{requirement}"{more} ', text, count=1)
        changed = changed.replace(f'"{requirement}" ]', f'"{requirement}"]')
    expected = [requirement, *(before or [])]
    if not same(parse(changed, place).get("project", {}).get("dependencies"), expected):
        raise ProjectError(f'{place}: add "{requirement}" to the dependencies, then run this again')
    return changed

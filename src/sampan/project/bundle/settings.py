"""`BundleSettings`: the tables `[tool.sampan.bundle]` and `[[tool.sampan.patches]]`, with the name of the image."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sampan.core.numbers import quantity
from sampan.project.errors import ProjectError
from sampan.project.image.settings import image_settings
from sampan.project.pyproject import FILE, Settings, parse

TABLE: Final = "tool.sampan.bundle"
IMAGE_KEY: Final = "name in [tool.sampan.image]"
_RESOURCES: Final[Mapping[str, Any]] = {
    "limits": {"memory": "192Mi"},
    "requests": {"cpu": "50m", "memory": "96Mi"},
}
"""No limit of processor time: it would delay the renewal of the lease."""
KEYS: Final = frozenset(
    {
        "namespace", "replicas", "resources", "watch-namespaces", "args", "env", "priority-class",
        "webhook-certificates", "network-policy", "service-monitor", "create-namespace",
    }
)  # fmt: skip
_is_label = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?").fullmatch
_is_variable = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*").fullmatch
_REPLICAS_MAX: Final = 100
OWN: Final = "own"
CERT_MANAGER: Final = "cert-manager"


@dataclass(frozen=True, slots=True)
class PatchSettings:
    """One entry of `[[tool.sampan.patches]]`."""

    kind: str
    name: str
    """Name of the object; "" for all objects of the kind."""
    merge: Mapping[str, Any] | None
    """Strategic merge patch; for kinds that Kubernetes does not know, a merge patch."""
    json: tuple[Mapping[str, Any], ...]
    """JSON patch."""


@dataclass(frozen=True, slots=True)
class BundleSettings:
    """Everything that decides the manifests of an operator, except its code."""

    project: Settings
    name: str
    """Name of most objects: that of the package, as a DNS label."""
    version: str
    description: str
    image: str
    """Name of the image with its tag or digest."""
    namespace: str
    """Namespace of the operator."""
    creates_namespace: bool
    replicas: int
    resources: Mapping[str, Any]
    watch_namespaces: tuple[str, ...]
    """Namespaces whose objects the operator manages; empty: those of its code, by default all."""
    arguments: tuple[str, ...]
    """Further arguments of the program."""
    environment: Mapping[str, str]
    priority_class: str
    cert_manager: bool
    """True: cert-manager issues the certificate of the webhooks. False: the operator does."""
    network_policy: bool
    service_monitor: bool
    patches: tuple[PatchSettings, ...]


def bundle_settings(project: Settings, changes: Mapping[str, Any] = {}) -> BundleSettings:
    """Return the settings of a project. `changes`: values that replace those of the file, and `image`.

    Raises `ProjectError` that names the setting.
    """
    place = project.root / FILE
    content = parse(place.read_text(), place)
    tools = content.get("tool", {}).get("sampan", {})
    table = tools.get("bundle", {})
    if not isinstance(table, dict):
        raise ProjectError(f"{place}: {TABLE} is no table")
    unknown = sorted(set(table) - KEYS)
    if unknown:
        raise ProjectError(f"{place}: unknown {TABLE}.{unknown[0]}; there are {', '.join(sorted(KEYS))}")
    given = {key: value for key, value in changes.items() if key != "image"}
    reader = _Reader(place, {**table, **given})
    name = project.package.strip("_").replace("_", "-").lower()
    namespace = reader.label("namespace", f"{name}-system")
    metadata = content.get("project", {})
    return BundleSettings(
        project=project,
        name=name,
        version=str(metadata.get("version", "0")),
        description=str(metadata.get("description", "")),
        image=_image(project, str(changes.get("image", ""))),
        namespace=namespace,
        creates_namespace=reader.switch(
            "create-namespace", namespace != "default" and not namespace.startswith("kube-")
        ),
        replicas=reader.number("replicas", 1),
        resources=reader.resources(),
        watch_namespaces=tuple(reader.texts("watch-namespaces")),
        arguments=tuple(reader.texts("args")),
        environment=reader.environment(),
        priority_class=reader.text("priority-class"),
        cert_manager=reader.choice("webhook-certificates", (OWN, CERT_MANAGER)) == CERT_MANAGER,
        network_policy=reader.switch("network-policy", True),
        service_monitor=reader.switch("service-monitor", False),
        patches=_patches(place, tools.get("patches", [])),
    )


def _image(project: Settings, given: str) -> str:
    """Return the name of the image. Raises `ProjectError` if none is set."""
    place = project.root / FILE
    table = parse(place.read_text(), place).get("tool", {}).get("sampan", {}).get("image", {})
    if not given and not (isinstance(table, dict) and table.get("name")):
        raise ProjectError(
            f"{place}: no image is set: add {IMAGE_KEY}, such as registry.example.com/team/{project.package}, "
            "or use --image"
        )
    return str(image_settings(project, {"name": given} if given else {}).name)


class _Reader:
    """Typed access to the table."""

    def __init__(self, place: Path, table: Mapping[str, Any]) -> None:
        self._place, self._table = place, table

    def text(self, key: str, default: str = "") -> str:
        return str(self._checked(key, str, default, "a text"))

    def label(self, key: str, default: str) -> str:
        found = self.text(key, default)
        if _is_label(found) is None:
            raise self._fault(key, f"a DNS label, not {found[:70]!r}")
        return found

    def choice(self, key: str, values: Sequence[str]) -> str:
        found = self.text(key, values[0])
        if found not in values:
            raise self._fault(key, f"{' or '.join(values)}, not {found[:70]!r}")
        return found

    def switch(self, key: str, default: bool) -> bool:
        return bool(self._checked(key, bool, default, "true or false"))

    def number(self, key: str, default: int) -> int:
        found = self._checked(key, int, default, "a number")
        if isinstance(found, bool) or not 1 <= found <= _REPLICAS_MAX:
            raise self._fault(key, f"a number from 1 to {_REPLICAS_MAX}")
        return int(found)

    def texts(self, key: str) -> list[str]:
        found = self._checked(key, list, [], "a list of texts")
        if not all(isinstance(each, str) for each in found):
            raise self._fault(key, "a list of texts")
        if key == "watch-namespaces" and any(_is_label(each) is None for each in found):
            raise self._fault(key, "a list of names of namespaces")
        return list(found)

    def environment(self) -> dict[str, str]:
        found = self._checked("env", dict, {}, "a table of texts")
        if not all(isinstance(each, str) and _is_variable(key) for key, each in found.items()):
            raise self._fault("env", "a table of variables with texts")
        return dict(found)

    def resources(self) -> dict[str, Any]:
        found = self._checked("resources", dict, _RESOURCES, "a table with requests and limits")
        for part, amounts in found.items():
            if part not in ("requests", "limits") or not isinstance(amounts, Mapping):
                raise self._fault("resources", "a table with requests and limits")
            for each in amounts.values():
                try:
                    quantity.parse(str(each))
                except ValueError:
                    raise self._fault(f"resources.{part}", f"quantities such as 100m or 96Mi, not {each!r}") from None
        return {part: {key: str(each) for key, each in amounts.items()} for part, amounts in found.items()}

    def _checked(self, key: str, kind: type, default: Any, expected: str) -> Any:
        found = self._table.get(key, default)
        if not isinstance(found, kind):
            raise self._fault(key, expected)
        return found

    def _fault(self, key: str, expected: str) -> ProjectError:
        return ProjectError(f"{self._place}: {TABLE}.{key} must be {expected}")


def _patches(place: Path, found: Any) -> tuple[PatchSettings, ...]:
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ProjectError(f"{place}: write patches as tables with two brackets: [[tool.sampan.patches]]")
    return tuple(_patch(f"{place}: tool.sampan.patches[{index}]", each) for index, each in enumerate(found))


def _patch(place: str, table: Mapping[str, Any]) -> PatchSettings:
    unknown = sorted(set(table) - {"kind", "name", "merge", "json"})
    if unknown:
        raise ProjectError(f"{place}: unknown key {unknown[0]}; there are kind, name, merge and json")
    kind, name = table.get("kind"), table.get("name", "")
    if not isinstance(kind, str) or not kind or not isinstance(name, str):
        raise ProjectError(f"{place}: kind is missing, or kind or name is no text")
    merge, operations = table.get("merge"), table.get("json", [])
    if (merge is None) == (not operations):
        raise ProjectError(f"{place}: give either merge, a table, or json, a list of operations")
    if merge is not None and not isinstance(merge, dict):
        raise ProjectError(f"{place}: merge must be a table")
    if not isinstance(operations, list) or not all(isinstance(each, dict) for each in operations):
        raise ProjectError(f'{place}: json must be a list of operations: {{op = "add", path = "/…", value = …}}')
    return PatchSettings(kind, name, merge, tuple(operations))

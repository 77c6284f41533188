"""Projects of operators, for tests of their manifests."""

import sys
from pathlib import Path

import pytest

from tests.project.conftest import Sampan

IMAGE = "registry.example.com/team/boats"
_OWNED = """\
        crew = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": request.name, "namespace": request.namespace},
            "data": {"length": str(boat.spec.length)},
        }
        set_controller_reference(boat, crew)
        await maps.in_namespace(request.namespace).apply(crew, field_manager="boats", force=True)
"""


def edit(place: Path, *changes: tuple[str, str]) -> None:
    """Replace texts in a file; each must be there."""
    text = place.read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    place.write_text(text)


@pytest.fixture
def fleet(boats: Path, sampan: Sampan, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with a kind and an image."""
    assert not sampan("create", "api", "--kind", "Boat", "--field", "length:int>0", folder=boats).return_value
    with (boats / "pyproject.toml").open("a") as file:
        file.write(f'\n[tool.sampan.image]\nname = "{IMAGE}"\n')
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in [each for each in sys.modules if each.split(".")[0] == "boats"]:
        monkeypatch.delitem(sys.modules, name)
    return boats


@pytest.fixture
def harbour(fleet: Path, sampan: Sampan) -> Path:
    """Return a project with an owned kind, webhooks, and a conversion between two versions."""
    assert not sampan("create", "webhook", "--kind", "Boat", folder=fleet).return_value
    assert not sampan("create", "conversion", "--kind", "Boat", "--from", "v1", "--to", "v2", folder=fleet).return_value
    package = fleet / "src" / "boats"
    edit(
        package / "boat" / "reconcile.py",
        (
            "        # Create or change here what boat.spec describes. "
            "If it cannot be done now, raise: it is tried again.\n",
            _OWNED,
        ),
        ("complete(reconcile)", 'owns(MAPS).writes(MAPS, "create", "patch").complete(reconcile)'),
        ("    events = manager", '    maps = manager.client.resource(MAPS, namespace="")\n    events = manager'),
        (
            "\n\ndef set_up(",
            '\nMAPS = ResourceInfo(GroupVersionResource("", "v1", "configmaps"), "ConfigMap", namespaced=True)\n'
            "\n\ndef set_up(",
        ),
        (
            "from sampan.operator import",
            "from sampan.core.gvk import GroupVersionResource\nfrom sampan.operator import set_controller_reference\n"
            "from sampan.resource import ResourceInfo\nfrom sampan.operator import",
        ),
    )
    for version, other in (("v1", "v2"), ("v2", "v1")):
        old = "old" if version == "v2" else "new"
        edit(
            package / "boat" / "conversion.py",
            (
                f'raise NotImplementedError("map the fields of {other} to those of {version}")',
                f"status = {version}.BoatStatus({old}.status.observed_generation, {old}.status.conditions)"
                f" if {old}.status else None\n    "
                f"return {version}.Boat(spec={version}.BoatSpec(length={old}.spec.length), status=status)",
            ),
        )
    edit(package / "boat" / "conversion.py", ("observed_generation, ", "observed_generation, conditions="))
    edit(package / "boat" / "conversion.py", ("BoatStatus(", "BoatStatus(observed_generation="))
    return fleet

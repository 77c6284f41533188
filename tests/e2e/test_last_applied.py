"""`kubectl apply view-last-applied`, `set-last-applied` and `edit-last-applied`."""

from pathlib import Path

import pytest
import yaml

from tests.e2e.kubectl import Kubectl
from tests.e2e.manifests import CONFIG_MAP

pytestmark = pytest.mark.e2e


def last_applied(kubectl: Kubectl) -> dict[str, str]:
    """The data that was applied last."""
    found: dict[str, str] = yaml.safe_load(kubectl("apply", "view-last-applied", "cm/settings"))["data"]
    return found


def test_view_shows_what_was_applied(kubectl: Kubectl) -> None:
    kubectl.apply(CONFIG_MAP)
    kubectl("patch", "cm", "settings", "-p", '{"data":{"other":"1"}}')
    assert last_applied(kubectl) == {"colour": "blue", "size": "large"}
    assert '"colour": "blue"' in kubectl("apply", "view-last-applied", "cm/settings", "-o", "json")


def test_view_shows_nothing_without_the_annotation(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    assert kubectl("apply", "view-last-applied", "cm/settings") == ""


def test_set_changes_the_annotation_alone(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl.apply(CONFIG_MAP)
    manifest = tmp_path / "settings.yaml"
    manifest.write_text(CONFIG_MAP.replace("blue", "green"))
    assert kubectl("apply", "set-last-applied", "-f", str(manifest)) == "configmap/settings configured"
    assert last_applied(kubectl)["colour"] == "green"
    assert kubectl.get("cm", "settings")["data"]["colour"] == "blue"


def test_set_can_create_the_annotation(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("create", "-f", "-", stdin=CONFIG_MAP)
    manifest = tmp_path / "settings.yaml"
    manifest.write_text(CONFIG_MAP)
    kubectl("apply", "set-last-applied", "--create-annotation", "-f", str(manifest))
    assert last_applied(kubectl)["colour"] == "blue"


def test_edit_opens_an_editor(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl.apply(CONFIG_MAP)
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nsed -i 's/blue/violet/' \"$1\"\n")
    editor.chmod(0o755)
    done = kubectl.with_environment(EDITOR=str(editor))("apply", "edit-last-applied", "cm/settings")
    assert done == "configmap/settings edited"
    assert last_applied(kubectl)["colour"] == "violet"
    assert kubectl.get("cm", "settings")["data"]["colour"] == "blue"

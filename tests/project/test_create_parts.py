"""Webhooks, conversions, controllers of other kinds, and kinds from CRDs."""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sampan.client import ApiError
from sampan.core.json.values import same
from sampan.resource.crd import crd_of
from sampan.wire import yaml
from tests.project.conftest import Sampan, tree
from tests.project.test_run import running
from tests.user_environment import user_environment

NETWORK = Path(__file__).parents[2] / "examples/01-network/crds/samplecrd.k8s.io_networks.yaml"
CRDS = (NETWORK, Path(__file__).parents[2] / "examples/boats/crd.yaml")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project with all parts."""
    folder = tmp_path_factory.mktemp("project")
    run(folder, "init", "boats")
    root = folder / "boats"
    for command in (
        ("api", "--kind", "Boat", "--version", "v1alpha1", "--field", "length:int>0"),
        ("webhook", "--kind", "Boat"),
        ("api", "--kind", "Ship"),
        ("webhook", "--kind", "Ship", "--validation"),
        ("conversion", "--kind", "Boat", "--from", "v1alpha1", "--to", "v1"),
        ("controller", "--watches", "apps/Deployment"),
        ("controller", "--watches", "Node"),
        ("controller", "--watches", "events.k8s.io/v1/Event"),
        ("api", "--from", str(NETWORK), "--external"),
    ):
        run(root, "create", *command)
    return root


def run(folder: Path, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "sampan", *arguments], cwd=folder, check=True)


def check(root: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = user_environment()
    command = (sys.executable, "-m", *command)
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize("command", [("ruff", "check", "."), ("ruff", "format", "--check", "."), ("mypy",)], ids=str)
def test_all_parts_pass_the_checks(project: Path, command: tuple[str, ...]) -> None:
    done = check(project, *command)
    assert done.returncode == 0, done.stdout + done.stderr


def test_only_the_round_trip_fails_until_it_is_filled_in(project: Path) -> None:
    done = check(project, "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio")
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    assert [line.split()[1] for line in failed] == [
        "tests/test_boat_conversion.py::test_a_boat_survives_the_way_to_v1_and_back"
    ], done.stdout


@pytest.mark.parametrize("source", CRDS, ids=lambda path: path.stem)
def test_the_crd_of_the_types_of_a_crd_is_the_same(
    boats: Path, sampan: Sampan, monkeypatch: pytest.MonkeyPatch, source: Path
) -> None:
    assert sampan("create", "api", "--from", str(source), "--no-controller", folder=boats).exception is None
    given: Any = yaml.decode(source.read_bytes())
    kind = given["spec"]["names"]["kind"]
    monkeypatch.syspath_prepend(boats / "src")
    for name in [each for each in sys.modules if each.split(".")[0] == "boats"]:
        monkeypatch.delitem(sys.modules, name)
    module = importlib.import_module(f"boats.{kind.lower()}.v1")
    made = crd_of(getattr(module, kind))
    assert same(plain(made["spec"]["versions"][0]), plain(given["spec"]["versions"][0]))


def plain(value: Any) -> Any:
    """Return a version without what only one of two equal CRDs may have: formats, bounds of int, fixed fields."""
    if isinstance(value, dict):
        left_out = ("format", "apiVersion", "kind", "metadata", "description")
        return {key: plain(each) for key, each in value.items() if key not in left_out}
    if isinstance(value, list):
        items = [plain(each) for each in value]
        return sorted(items) if all(isinstance(each, str) for each in items) else items
    return value


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        (("webhook", "--kind", "Ship"), "its kinds: Boat"),
        (("conversion", "--kind", "Boat", "--from", "v2", "--to", "v3"), "has the version v1"),
        (("conversion", "--kind", "Boat", "--from", "v1", "--to", "v1"), "has already"),
        (("conversion", "--kind", "Boat", "--from", "v1", "--to", "2"), "cannot be an API version"),
        (("controller", "--watches", "Boat"), "Kubernetes has no such kind"),
        (("controller", "--watches", "apps/v9/Deployment"), "Kubernetes has no such kind"),
        (("api", "--external", "--kind", "Ship"), "needs --from"),
        (("api",), "missing option --kind"),
        (("api", "--from", "pyproject.toml"), "--from pyproject.toml"),
        (("api", "--from", "README.md"), "--from README.md"),
        (("api", "--from", "samples/boat.yaml"), "one of its kinds: none"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_part_that_cannot_be_made_is_one_error(
    boats: Path, sampan: Sampan, command: tuple[str, ...], fault: str
) -> None:
    sampan("create", "api", "--kind", "Boat", folder=boats)
    before = tree(boats)
    assert fault in str(sampan("create", *command, folder=boats).exception)
    assert tree(boats) == before


async def test_a_webhook_of_a_project_refuses_an_object(boats: Path, sampan: Sampan) -> None:
    sampan("create", "api", "--kind", "Boat", "--field", "length:int>0", folder=boats)
    sampan("create", "webhook", "--kind", "Boat", folder=boats)
    place = boats / "src/boats/boat/webhook.py"
    fault = 'return [invalid(Path("spec", "length"), 13, "brings bad luck")] if new.spec.length == 13 else []'
    text = place.read_text().replace("return []", fault)
    place.write_text(
        text.replace("from sampan.operator", "from sampan.core.field import Path, invalid\nfrom sampan.operator")
    )
    server = boats / "src/boats/webhooks/__init__.py"
    server.write_text(server.read_text().replace("WebhookOptions(", 'WebhookOptions(host="127.0.0.1", port=0, '))
    async with running(boats) as session:
        resource = await session.client.resource_for("boats")
        assert not [line for line in session.lines if "not applied" in line]
        boat = await resource.get("example")
        boat["spec"]["length"] = 13
        with pytest.raises(ApiError, match="brings bad luck"):
            await resource.update(boat)

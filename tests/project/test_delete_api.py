"""`sampan delete api`."""

from pathlib import Path

import pytest

from sampan.cli.main import main
from sampan.project.create import kind_unit
from sampan.project.delete import left_on_cluster
from sampan.project.pyproject import project_at
from sampan.project.running.memory_server import memory_server
from sampan.project.templates.kind import kind_files
from sampan.resource.crd import crd_of
from tests.project.conftest import Sampan, tree

CREATED = (
    ("api", "--kind", "Boat", "--version", "v1alpha1"),
    ("webhook", "--kind", "Boat"),
    ("conversion", "--kind", "Boat", "--from", "v1alpha1", "--to", "v1"),
)


def test_a_fresh_kind_leaves_the_tree_as_it_was(boats: Path, sampan: Sampan) -> None:
    before = tree(boats)
    for command in CREATED:
        assert sampan("create", *command, folder=boats).exception is None
    assert len(tree(boats)) > len(before) + 8
    result = sampan("delete", "api", "--kind", "Boat", folder=boats)
    assert "remove  src/boats/boat/v1.py" in result.output
    assert tree(boats) == before
    assert not (boats / "src/boats/boat").exists()


def test_what_kinds_share_stays_until_the_last_one_is_deleted(boats: Path, sampan: Sampan) -> None:
    for kind in ("Boat", "Ship"):
        sampan("create", "api", "--kind", kind, folder=boats)
        sampan("create", "webhook", "--kind", kind, folder=boats)
    sampan("delete", "api", "--kind", "Boat", folder=boats)
    assert (boats / "src/boats/webhooks/__init__.py").exists()
    sampan("delete", "api", "--kind", "Ship", folder=boats)
    assert not (boats / "src/boats/webhooks").exists()


@pytest.mark.parametrize(
    ("path", "text", "listed"),
    [
        ("src/boats/boat/v1.py", "mine = 1\n", "src/boats/boat/v1.py has your changes"),
        ("src/boats/boat/mine.py", "mine = 1\n", "src/boats/boat/mine.py: a file of your own"),
        (
            "src/boats/fleet.py",
            "import os\n\nfrom boats.boat.v1 import Boat\n",
            "src/boats/fleet.py:3 imports boats.boat",
        ),
        ("tests/test_fleet.py", "from boats import boat\n", "tests/test_fleet.py:1 imports boats.boat"),
    ],
)
def test_a_kind_in_use_is_refused_with_a_list(boats: Path, sampan: Sampan, path: str, text: str, listed: str) -> None:
    sampan("create", "api", "--kind", "Boat", folder=boats)
    (boats / path).write_text(text)
    before = tree(boats)
    assert listed in str(sampan("delete", "api", "--kind", "Boat", folder=boats).exception)
    assert tree(boats) == before
    assert sampan("delete", "api", "--kind", "Boat", "--force", folder=boats).exception is None
    assert not (boats / "src/boats/boat/v1.py").exists()


def test_an_unknown_kind_and_a_dry_run_change_nothing(boats: Path, sampan: Sampan) -> None:
    sampan("create", "api", "--kind", "Boat", folder=boats)
    before = tree(boats)
    assert "its kinds: Boat" in str(sampan("delete", "api", "--kind", "Ship", folder=boats).exception)
    assert "remove" in sampan("delete", "api", "--kind", "Boat", "--dry-run", folder=boats).output
    assert tree(boats) == before


def test_delete_with_a_name_is_still_for_objects(
    sampan: Sampan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "absent"))
    result = sampan("delete", "api", "some-name")
    assert "--kind" not in str(result.exception)


async def test_what_a_cluster_still_has_is_named(boats: Path, sampan: Sampan, monkeypatch: pytest.MonkeyPatch) -> None:
    sampan("create", "api", "--kind", "Boat", folder=boats)
    unit = kind_unit(project_at(boats), "Boat")
    made: dict[str, object] = {"__name__": "boat"}
    exec(kind_files(unit.inputs)["src/boats/boat/v1.py"].text, made)
    async with memory_server(boats / ".sampan/run") as server, server.client("test") as client:
        assert await left_on_cluster(client, unit) == ""
        crd = crd_of(made["Boat"])  # type: ignore[arg-type]  # a class of the text
        await (await client.resource_for(crd)).apply(crd)
        assert "CRD boats.boats.example.com" in await left_on_cluster(client, unit)


def test_each_reference_to_a_kind_is_a_line(boats: Path, sampan: Sampan, capsys: pytest.CaptureFixture[str]) -> None:
    sampan("create", "api", "--kind", "Boat", folder=boats)
    (boats / "src/boats/fleet.py").write_text("import boats.boat\nimport boats.boat.v1\n")
    with pytest.raises(SystemExit):
        main(["delete", "api", "--kind", "Boat"])
    assert capsys.readouterr().err.splitlines()[1:] == [
        "  src/boats/fleet.py:1 imports boats.boat",
        "  src/boats/fleet.py:2 imports boats.boat",
    ]

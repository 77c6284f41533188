"""Tests of `sampan generate crds`."""

from pathlib import Path

import pytest

from sampan.cli.main import main
from sampan.generate.crds import crd_files
from sampan.generate.declared import SourceError, load
from sampan.resource.crd import crd_of
from sampan.wire import yaml
from tests.resource.kinds import Boat, Buoy, OldBoat

MODULE = "tests.resource.kinds"


def _run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["generate", "crds", *arguments])
    code = ended.value.code
    assert isinstance(code, int)
    return code


def test_versions_of_a_kind_share_a_file() -> None:
    files = crd_files(load([MODULE]), Path("d"))
    assert list(files) == [Path("d/harbour.example.com_boats.yaml"), Path("d/harbour.example.com_buoys.yaml")]
    assert yaml.decode(files[Path("d/harbour.example.com_boats.yaml")]) == crd_of(Boat, OldBoat)


def test_each_class_is_found_once() -> None:
    assert load([MODULE, MODULE]) == [Boat, OldBoat, Buoy]


def test_the_command_prints_the_written_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(str(tmp_path / "crds"), "--from", MODULE) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"wrote {tmp_path}/crds/harbour.example.com_boats.yaml",
        f"wrote {tmp_path}/crds/harbour.example.com_buoys.yaml",
    ]


def test_unchanged_files_are_not_written_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _run(str(tmp_path), "--from", MODULE)
    capsys.readouterr()
    assert _run(str(tmp_path), "--from", MODULE) == 0
    assert capsys.readouterr().out == ""


def test_a_check_fails_on_a_stale_file_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _run(str(tmp_path), "--from", MODULE)
    stale = tmp_path / "harbour.example.com_buoys.yaml"
    stale.write_text("old")
    assert _run(str(tmp_path), "--from", MODULE, "--check") == 1
    assert "is not what would be generated" in capsys.readouterr().err
    assert stale.read_text() == "old"


def test_a_check_of_fresh_files_passes(tmp_path: Path) -> None:
    _run(str(tmp_path), "--from", MODULE)
    assert _run(str(tmp_path), "--from", MODULE, "--check") == 0


@pytest.mark.parametrize(
    ("module", "message"),
    [("no.such.module", "cannot import no.such.module"), ("json", "json declares no kind")],
    ids=["missing", "nothing declared"],
)
def test_unusable_modules_are_rejected(module: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        load([module])


KIND = """
from sampan.resource import CustomResource, resource

@resource(group="harbour.example.com", version="v1")
class {name}(CustomResource):
    pass
"""


def test_a_package_has_the_kinds_of_its_subpackages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, name in (("quay", "Quay"), ("crane", "Crane")):
        (tmp_path / "riverside" / folder).mkdir(parents=True)
        (tmp_path / "riverside" / folder / "v1.py").write_text(KIND.format(name=name))
        (tmp_path / "riverside" / folder / "__init__.py").write_text("")
    (tmp_path / "riverside" / "__init__.py").write_text("")
    (tmp_path / "riverside" / "quay" / "reconcile.py").write_text("from tests.resource.kinds import Boat")
    (tmp_path / "riverside" / "crane" / "other.py").write_text("EXTERNAL = True" + KIND.format(name="Lighthouse"))
    monkeypatch.syspath_prepend(tmp_path)
    assert [cls.__name__ for cls in load(["riverside"])] == ["Crane", "Quay"]


def test_the_command_prints_the_cause_of_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(str(tmp_path), "--from", "no.such.module") == 1
    assert capsys.readouterr().err.startswith("sampan: error: cannot import no.such.module")

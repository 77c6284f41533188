"""A stored result has its basis, and a resumed run continues only on the same one."""

from pathlib import Path

import pytest

from tests.e2e.conformance import __main__ as command
from tests.e2e.conformance.basis import basis, difference
from tests.e2e.conformance.building import Built
from tests.e2e.conformance.results import Results, store
from tests.e2e.conformance.suite import Result

NAME = "[sig-node] Pods should be updated [Conformance]"


@pytest.fixture
def built(tmp_path: Path) -> Built:
    for name in ("e2e.test", "kubectl", "images.tar"):
        (tmp_path / name).write_text(name)
    return Built(tmp_path / "e2e.test", tmp_path / "kubectl", tmp_path / "images.tar")


def test_basis_depends_on_the_images(built: Built) -> None:
    before = basis(built.suite, built.archive, 2)
    built.archive.write_text("sh is bash")
    after = basis(built.suite, built.archive, 2)
    assert difference(after, before).startswith("images: sha256:")
    assert difference(before, before) == ""


def test_kept_results_have_their_basis(tmp_path: Path) -> None:
    stored = Results(tmp_path / "results.json")
    stored.basis = {"commit": "one"}
    stored.add(Result(NAME, True, 1.0))
    read = Results(tmp_path / "results.json")
    assert (read.basis, list(read.by_name)) == ({"commit": "one"}, [NAME])


def test_stored_result_shows_its_basis(tmp_path: Path) -> None:
    stored = Results(tmp_path / "results.json")
    stored.basis = {"commit": "one", "containerd": "containerd 2.1.9"}
    stored.add(Result(NAME, True, 1.0))
    text = store(stored, [NAME], tmp_path / "stored", 2, "1.36.5").read_text()
    assert "| commit | one |" in text
    assert "| containerd | containerd 2.1.9 |" in text


def test_run_on_another_basis_is_not_resumed(
    built: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = Results(tmp_path / "results.json")
    stored.basis = {**basis(built.suite, built.archive, 2), "images": "sha256:old"}
    stored.add(Result(NAME, True, 1.0))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(command, "_RESULTS", tmp_path / "results.json")
    monkeypatch.setattr(command, "build", lambda *words, is_sample: built)
    monkeypatch.setattr(command, "_run", lambda *arguments: 0)
    monkeypatch.setattr("sys.argv", ["conformance", "--resume"])
    assert command.main() == 2
    assert (
        "cannot resume, as the results are of another run: images: sha256:old, now sha256:" in capsys.readouterr().err
    )
    monkeypatch.setattr("sys.argv", ["conformance"])
    assert command.main() == 0

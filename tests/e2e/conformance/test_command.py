"""The command of the conformance suite, on a machine that cannot run it."""

from pathlib import Path

import pytest

from tests.e2e.conformance import __main__ as command
from tests.e2e.conformance import building
from tests.machines import packages


@pytest.mark.parametrize(
    ("options", "code", "text"), [([], 2, "needs root"), (["--or-skip"], 0, "skipped: needs root")]
)
def test_machine_without_what_tests_need_is_reported(
    options: list[str],
    code: int,
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(building, "missing", lambda also: "needs root")
    monkeypatch.setattr("sys.argv", ["conformance", "--sample", "--work", str(tmp_path), *options])
    assert command.main() == code
    assert capsys.readouterr().err == f"conformance: {text}\n"


def test_result_of_a_sample_is_not_stored(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["conformance", "--sample", "--store"])
    with pytest.raises(SystemExit):
        command.main()
    assert "--sample is not combined with" in capsys.readouterr().err


@pytest.mark.parametrize(("version", "text"), [("go1.26.8", ""), ("go1.19.8", "go1.19.8 is too old: needs go1.21")])
def test_go_that_is_too_old_is_reported(
    version: str, text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "go"
    program.write_text(f"#!/bin/sh\necho {version}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert building.missing_go() == text


def test_run_on_a_disk_that_is_nearly_full_is_refused_at_the_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(packages, "_lacking", lambda further: [])
    monkeypatch.setattr(packages, "full_disk", lambda directory: f"the disk of {directory} has only 14 % free")
    monkeypatch.setattr("sys.argv", ["conformance"])
    assert command.main() == 2
    assert "has only 14 % free" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["1.35.2", "1.36", "missing-e2e.test"])
def test_suite_of_another_minor_version_is_refused(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["conformance", "--suite", text])
    with pytest.raises(SystemExit):
        command.main()
    assert f"{text} is no file, no patch of 1.36, and not 'newest'" in capsys.readouterr().err

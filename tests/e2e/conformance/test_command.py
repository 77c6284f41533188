"""The command of the conformance suite, on a machine that cannot run it."""

from pathlib import Path

import pytest

from tests.e2e.conformance import __main__ as command


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
    monkeypatch.setattr(command, "missing", lambda also: "needs root")
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
    assert command._missing_go() == text

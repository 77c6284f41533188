"""Errors at the start of a server: one line on stderr. The exit code is 2 for a wrong command line, otherwise 1."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from sampan.cli.main import main


@pytest.fixture(autouse=True)
def no_logging(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sampan.app.main.configure_logging", lambda level, form: None)


@pytest.fixture
def port() -> Iterator[int]:
    """Port in use."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        yield sock.getsockname()[1]


def error_of(capsys: pytest.CaptureFixture[str], data: Path, *options: str, code: int = 1) -> str:
    """Run `sampan up`, which ends with `code`. Returns its message."""
    with pytest.raises(SystemExit) as ended:
        main(["up", "--data", str(data), "--port", "0", *options])
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (code, "")
    assert err.startswith("sampan: error: ")
    assert err.count("\n") == 1
    return err.removeprefix("sampan: error: ").rstrip("\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--token-auth-file", "/nonexistent"], "cannot read /nonexistent"),
        (["--client-ca-file", "/nonexistent"], "cannot read /nonexistent"),
        (["--tls-cert-file", "/nonexistent", "--tls-private-key-file", "/x"], "/nonexistent"),
        (["--proxy-client-cert-file", "/nonexistent", "--proxy-client-key-file", "/x"], "cannot read /nonexistent"),
        (
            ["--proxy-client-cert-file", __file__, "--proxy-client-key-file", __file__],
            f"{__file__} contains no valid certificate in PEM",
        ),
        (["--cors-allowed-origin", "("], "invalid CORS allowed origin"),
        (["--bind", "999.0.0.1"], "cannot listen on 999.0.0.1"),
        (["--bind", "127.0.0.1:7443"], "use --bind 127.0.0.1 --port 7443"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_faults_are_reported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: list[str], message: str
) -> None:
    assert message in error_of(capsys, tmp_path / "d", *options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tls-cert-file", "x"], "--tls-cert-file and --tls-private-key-file belong together"),
        (["--proxy-client-key-file", "x"], "--proxy-client-cert-file and --proxy-client-key-file belong together"),
        (["--storage", "paper"], "'paper' is not one of"),
        (["--port", "70000"], "70000 is not in the range"),
        (["--nonsense"], "--nonsense"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_command_line_ends_with_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: list[str], message: str
) -> None:
    assert message in error_of(capsys, tmp_path / "d", *options, code=2)


def test_a_port_in_use(capsys: pytest.CaptureFixture[str], tmp_path: Path, port: int) -> None:
    output = error_of(capsys, tmp_path, "--port", str(port))
    remedy = "stop the program that uses it, or choose another port with --port (0: a free one)"
    assert output == f"cannot listen on 127.0.0.1:{port}: Address already in use: {remedy}"


def test_a_damaged_store(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "state.db").write_bytes(b"this is no database" * 1000)
    assert error_of(capsys, tmp_path)


def test_a_damaged_ca(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "pki").mkdir()
    (tmp_path / "pki" / "ca.crt").write_bytes(b"x")
    assert "ca.key" in error_of(capsys, tmp_path)


def test_a_data_directory_that_is_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    assert "f" in error_of(capsys, tmp_path / "f" / "d")


def test_a_token_file_that_makes_no_sense(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("token,user\n")
    assert "must have at least 3 columns" in error_of(
        capsys, tmp_path / "d", "--token-auth-file", str(tmp_path / "t.csv")
    )

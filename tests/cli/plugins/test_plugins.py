"""Plug-ins: the one that a command line names, the list of all, and their execution."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from sampan.cli.main import cli, main
from sampan.cli.plugins.find import Invocation, find_plugin, list_plugins
from tests.user_environment import user_environment

Put = Callable[..., Path]


@pytest.fixture
def put(tmp_path: Path) -> Put:
    """Puts a program into a folder that is to be on PATH."""

    def put(name: str, *, folder: str = "bin", mode: int = 0o755, text: str = '#!/bin/sh\necho "$0 $*"\n') -> Path:
        path = tmp_path / folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    return put


def _path(tmp_path: Path, *folders: str) -> str:
    return os.pathsep.join(str(tmp_path / folder) for folder in folders or ("bin",))


@pytest.mark.parametrize(
    ("arguments", "name", "rest"),
    [
        (["a"], "sampan-a", []),
        (["a", "x", "--y"], "sampan-a", ["x", "--y"]),
        (["a", "b"], "sampan-a-b", []),
        (["a", "b", "c", "-d"], "sampan-a-b", ["c", "-d"]),
        (["a", "-x", "b"], "sampan-a", ["-x", "b"]),
        (["with-dash", "x"], "sampan-with_dash", ["x"]),
    ],
    ids=["alone", "with arguments", "longest", "longest with arguments", "a flag ends the name", "dash"],
)
def test_the_longest_name_is_found(tmp_path: Path, put: Put, arguments: list[str], name: str, rest: list[str]) -> None:
    for each in ("sampan-a", "sampan-a-b", "sampan-with_dash"):
        put(each)
    assert find_plugin(arguments, _path(tmp_path)) == Invocation(str(tmp_path / "bin" / name), tuple(rest))


@pytest.mark.parametrize(
    "arguments", [[], ["b"], ["-a"], ["--a", "a"], ["../bin/sampan-a"], [""]], ids=lambda each: " ".join(each) or "none"
)
def test_nothing_else_is_found(tmp_path: Path, put: Put, arguments: list[str]) -> None:
    put("sampan-a")
    assert find_plugin(arguments, _path(tmp_path)) is None


def test_a_file_that_is_not_executable_is_not_a_plugin(tmp_path: Path, put: Put) -> None:
    put("sampan-a", mode=0o644)
    assert find_plugin(["a"], _path(tmp_path)) is None


def test_the_first_on_the_path_is_found(tmp_path: Path, put: Put) -> None:
    put("sampan-a", folder="two")
    first = put("sampan-a", folder="one")
    assert find_plugin(["a"], _path(tmp_path, "one", "two")) == Invocation(str(first), ())


def test_faults_of_plugins_are_reported(tmp_path: Path, put: Put) -> None:
    first = put("sampan-a", folder="one")
    second, plain = put("sampan-a", folder="two"), put("sampan-b", folder="two", mode=0o644)
    built_in, other = put("sampan-get-x", folder="two"), put("not-a-plugin", folder="two")
    found = {each.path: each.warnings for each in list_plugins(_path(tmp_path, "one", "none", "two"), ["get"])}
    assert other not in found
    assert found == {
        first: (),
        second: (f"{second} is overshadowed by a similarly named plugin: {first}",),
        plain: (f"{plain} identified as a sampan plugin, but it is not executable",),
        built_in: (f'{built_in} is never run: "sampan get" is built in',),
    }


def _sampan(tmp_path: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = user_environment(PATH=f"{_path(tmp_path)}{os.pathsep}/usr/bin{os.pathsep}/bin")
    command = [sys.executable, "-m", "sampan.cli", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=30)


def test_a_plugin_takes_the_place_of_the_command(tmp_path: Path, put: Put) -> None:
    path = put("sampan-boat", text='#!/bin/sh\necho "$0 $*"\nexit 7\n')
    done = _sampan(tmp_path, "boat", "row", "--fast")
    assert (done.returncode, done.stdout) == (7, f"{path} row --fast\n")


def test_a_built_in_command_is_never_a_plugin(tmp_path: Path, put: Put) -> None:
    put("sampan-version")
    assert "sampan-version" not in _sampan(tmp_path, "version").stdout


def test_a_plugin_that_cannot_run_is_named(tmp_path: Path, put: Put) -> None:
    path = put("sampan-boat", text="#!/no/such/interpreter\n")
    done = _sampan(tmp_path, "boat")
    assert (done.returncode, done.stderr) == (1, f"error: cannot run {path}: No such file or directory\n")


Report = Callable[..., tuple[int, str, str]]


@pytest.fixture
def plugin_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Report:
    """Runs `sampan plugin list`; gives exit code, output and errors."""
    monkeypatch.setenv("PATH", _path(tmp_path))

    def command(*options: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(["plugin", "list", *options])
        observed, code = capsys.readouterr(), ended.value.code
        assert isinstance(code, int)
        return code, observed.out, observed.err

    return command


def test_plugins_are_listed(put: Put, plugin_list: Report) -> None:
    path = put("sampan-boat")
    head = "The following compatible plugins are available:\n\n"
    assert plugin_list() == (0, f"{head}{path}\n", "")
    assert plugin_list("--name-only") == (0, f"{head}sampan-boat\n", "")


def test_warnings_are_an_error(put: Put, plugin_list: Report) -> None:
    path = put("sampan-up")
    code, _, output = plugin_list()
    assert code == 1
    assert output.splitlines() == [
        f'  - warning: {path} is never run: "sampan up" is built in',
        "error: one plugin warning was found",
    ]


def test_no_plugins_are_an_error(plugin_list: Report) -> None:
    assert plugin_list() == (1, "", "error: unable to find any sampan plugins in your PATH\n")


Offered = Callable[..., list[str]]


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Offered:
    """Return the completions of `sampan …`, whose last word is incomplete."""
    monkeypatch.setenv("PATH", os.pathsep.join((_path(tmp_path), "/usr/bin", "/bin")))

    def offered(*words: str) -> list[str]:
        found = ShellComplete(cli, {}, "sampan", "").get_completions(list(words[:-1]), words[-1])
        return [item.value for item in found]

    return offered


def test_plugins_are_completed_next_to_commands(put: Put, offered: Offered) -> None:
    put("sampan-up_stream")
    put("sampan-upper", mode=0o644)
    assert offered("up") == ["up", "upgrade", "up-stream"]


def test_completions_of_a_plugin_are_offered(put: Put, offered: Offered) -> None:
    put("sampan-up_stream")
    put("sampan_complete-up_stream", text='#!/bin/sh\nprintf "%s\\tsaid\\n" "after-$1" --bold\necho :4\n')
    assert offered("up-stream", "row", "af") == ["after-row"]
    assert offered("up-stream", "--b") == ["--bold"]
    assert offered("none", "") == []


def test_without_a_command_there_is_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([])
    observed = capsys.readouterr()
    assert (ended.value.code, observed.err) == (0, "")
    assert observed.out.startswith("Usage: sampan [OPTIONS] COMMAND [ARGS]...\n")

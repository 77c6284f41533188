"""Names of commands: suggestions for mistakes, and what only kubectl has."""

import subprocess
import sys

import click
import pytest

from sampan.cli.main import cli, main


def ended(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    observed = capsys.readouterr()
    return end.value.code, observed.out, observed.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gte", "pods"], "unknown command 'gte'. Did you mean sampan get?"),
        (["descirbe"], "unknown command 'descirbe'. Did you mean sampan describe?"),
        (["qqq"], "unknown command 'qqq'. See sampan --help."),
        (["snapshot", "restor"], "No such command 'restor'."),
        (["logs", "a"], "only kubectl has the command logs: use kubectl logs with the same kubeconfig."),
        (["port-forward"], "only kubectl has the command port-forward: use kubectl port-forward"),
    ],
)
def test_an_unknown_command_reports_what_to_type(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, out, error = ended(capsys, *arguments)
    assert code != 0
    assert out == ""
    assert message in error
    assert len(error.splitlines()) == 1


def test_help_lists_all_commands_that_are_not_hidden(capsys: pytest.CaptureFixture[str]) -> None:
    context = click.Context(cli)
    commands = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    shown = sorted(name for name, command in commands.items() if command is not None and not command.hidden)
    code, out, _ = ended(capsys, "--help")
    lines = [line.split() for line in out[out.index("Commands:") :].splitlines()[1:] if line[2:3].strip()]
    assert (code, sorted(words[0] for words in lines)) == (0, shown)
    assert all(len(words) > 1 for words in lines)


def test_help_does_not_load_the_commands() -> None:
    check = (
        "import sys; from click.testing import CliRunner; from sampan.cli.main import cli; "
        "CliRunner().invoke(cli, ['--help']); sys.exit('sampan.cli.processes.up' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_the_option_version_is_the_command_version(capsys: pytest.CaptureFixture[str]) -> None:
    shown = ended(capsys, "--version")
    assert shown == ended(capsys, "version")
    assert shown[:1] == (0,)
    assert shown[1].startswith("sampan ")

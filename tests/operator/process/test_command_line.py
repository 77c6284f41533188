"""Settings of an operator's process: flags, environment variables, and a file."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from sampan.core.settings import nested, setting, settings_of
from sampan.operator import OperatorSettings
from sampan.operator.process.command_line import read_configuration, variable_of


@dataclass(frozen=True, slots=True)
class Root:
    operator: OperatorSettings = nested(OperatorSettings)
    harbour: str = setting("Wuhan", "Name of the harbour.")


def read(*arguments: str, **environ: str) -> Root:
    found = read_configuration(Root(), program="boats", about="", arguments=arguments, environ=environ)
    root: Root = found.settings
    return root


def test_flags_override_variables_and_variables_override_the_file(tmp_path: Path) -> None:
    file = tmp_path / "boats.yaml"
    file.write_text("harbour: file\nlog-level: error\ncontext: file\n")
    found = read("--context=flag", "--config", str(file), SAMPAN_CONTEXT="variable", SAMPAN_LOG_LEVEL="debug")
    assert (found.harbour, found.operator.log.level, found.operator.context) == ("file", "debug", "flag")


def test_the_file_may_be_named_by_a_variable(tmp_path: Path) -> None:
    file = tmp_path / "boats.yaml"
    file.write_text("namespaces: [a, b]\n")
    assert read(SAMPAN_CONFIG=str(file)).operator.namespaces == ("a", "b")


@pytest.mark.parametrize(
    ("arguments", "value"), [([], False), (["--leader-elect"], True), (["--leader-elect=false"], False)]
)
def test_a_switch_needs_no_value(arguments: list[str], *, value: bool) -> None:
    assert read(*arguments).operator.leader_elect is value


def test_levels_may_be_repeated_or_separated_by_commas() -> None:
    found = read("--log-levels=boats=debug,sampan=error", "--log-levels=x=info")
    assert found.operator.log_levels == (("boats", "debug"), ("sampan", "error"), ("x", "info"))


@pytest.mark.parametrize(
    ("arguments", "environ", "text"),
    [
        (["--lag=3"], {}, "boats: unrecognized arguments: --lag=3"),
        (["--log-level=loud"], {}, "boats: --log-level: 'loud' is not one of"),
        (["--metrics-bind-address=here"], {}, "boats: --metrics-bind-address: 'here' is not host:port"),
        (["--tracing-sampling-rate=2"], {}, "boats: --tracing-sampling-rate: 2 is not between 0 and 1"),
        ([], {"SAMPAN_METRICS_SECURE": "maybe"}, "boats: SAMPAN_METRICS_SECURE: 'maybe' is not a valid boolean"),
        (["--config=absent.yaml"], {}, "boats: cannot read absent.yaml"),
    ],
    ids=["unknown", "choice", "address", "rate", "variable", "file"],
)
def test_a_mistake_ends_the_process_with_the_cause_first(
    arguments: list[str], environ: dict[str, str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        read(*arguments, **environ)
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith(text)


def test_help_names_each_flag_and_its_variable(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        read("--help")
    shown = "".join(capsys.readouterr().out.split())
    for each in settings_of(Root()):
        assert f"--{each.name}" in shown
        assert f"[{variable_of(each.name)}]" in shown

"""Tests of the messages for mistyped options."""

import pytest

from sampan.cli.main import main


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("up --lisen 1.2.3.4", "no such option --lisen. Did you mean --bind?"),
        ("up --host x", "no such option --host. Did you mean --bind?"),
        ("up --data-dir x", "no such option --data-dir. Did you mean --data?"),
        ("up --prot 3", "no such option --prot. Did you mean --port?"),
        ("up --secure-prt 3", "no such option --secure-prt. Did you mean --secure-port?"),
        ("up --schduler", "no such option --schduler. Did you mean --scheduler?"),
        ("get nodes --namspace x", "no such option --namspace. Did you mean --namespace?"),
        ("get nodes --listen x", "no such option --listen. See sampan get --help."),
        ("start", "unknown command 'start'. Did you mean sampan up?"),
        ("tree deploy web", "this is a command of the plug-in of kubectl: use kubectl sampan tree."),
        (
            "diff",
            "this is a command of the plug-in of kubectl: use kubectl sampan diff, and kubectl diff for manifests.",
        ),
        ("upp", "unknown command 'upp'. Did you mean sampan up?"),
        ("dlete pod x", "unknown command 'dlete'. Did you mean sampan delete?"),
    ],
)
def test_a_mistyped_option_or_command_gets_one_suggestion(
    capsys: pytest.CaptureFixture[str], line: str, hint: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(line.split())
    assert (ended.value.code, capsys.readouterr().err) == (2, f"sampan: error: {hint}\n")

"""Selection of the control loops of `sampan up`."""

from pathlib import Path

import pytest

from sampan.cli.main import main


def test_an_address_of_the_loops_without_a_port_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["up", "--data", str(tmp_path / "data"), "--loops-probe-address=localhost"])
    assert ended.value.code == 2
    assert "'localhost' is not host:port" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


def test_an_unknown_controller_is_refused_before_anything_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["up", "--data", str(tmp_path / "data"), "--controllers=*,-nobody"])
    assert ended.value.code == 2
    output = capsys.readouterr().err
    assert output.startswith("sampan: error: --controllers: 'nobody' is no controller: known controllers are ")
    assert "deployment-controller" in output
    assert not (tmp_path / "data").exists()

"""The units of systemd, read by systemd itself."""

import subprocess
from pathlib import Path

import pytest

from tests.machines.packages import require_program

UNITS = Path(__file__).parents[2] / "packaging" / "systemd"
INSTALLED = "/opt/sampan/bin/sampan"


def faults(unit: str, content: str, directory: Path) -> tuple[int, list[str]]:
    """Return the exit code of systemd's check, and what it reports of the unit."""
    require_program("systemd-analyze", "systemd")
    path = directory / unit
    # systemd checks that the program exists.
    path.write_text(content.replace(INSTALLED, "/bin/true"))
    command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, [line for line in (done.stdout + done.stderr).splitlines() if unit in line]


@pytest.mark.parametrize("unit", ["sampan.service", "sampan-node.service"])
def test_systemd_accepts_the_unit(unit: str, tmp_path: Path) -> None:
    content = (UNITS / unit).read_text()
    assert INSTALLED in content
    assert faults(unit, content, tmp_path) == (0, [])


def test_systemd_reports_a_setting_that_does_not_exist(tmp_path: Path) -> None:
    content = (UNITS / "sampan-node.service").read_text().replace("KillMode=", "KillMod=")
    code, lines = faults("sampan-node.service", content, tmp_path)
    assert code or lines

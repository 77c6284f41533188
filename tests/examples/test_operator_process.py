"""Operators of tests are really killed."""

from pathlib import Path

from tests.examples.operator_process import OperatorProcess
from tests.machines import wait_for

_SLEEPER = """import os, pathlib, time
pathlib.Path(os.environ["PLACE"]).write_text(f"{os.getpid()}\\n")
time.sleep(60)
"""


def test_a_killed_operator_has_ended_also_if_another_program_has_started_it(tmp_path: Path) -> None:
    place, source = tmp_path / "pid", tmp_path / "src"
    source.mkdir()
    (source / "sleeper.py").write_text(_SLEEPER)
    started_by = ("sh", "-c", '"$@"; exit', "sh")
    operator = OperatorProcess(str(tmp_path), "sleeper", {"PLACE": str(place)}, tmp_path / "log", started_by)
    operator.start()
    wait_for(lambda: place.exists() and place.read_text().endswith("\n"), "the operator")
    operator.kill()
    wait_for(lambda: not _runs(int(place.read_text())), "the end of the operator", 5)


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in ("Z", "X")

"""The script in docs/snapshots.md reads a snapshot."""

import re
import subprocess
import sys
from pathlib import Path

DOCUMENT = Path(__file__).parents[3] / "docs" / "snapshots.md"


def script() -> str:
    found = re.search(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert found is not None
    return found[1]


def read(snapshot: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", script(), snapshot], check=False, capture_output=True, text=True)


def test_the_documented_script_reads_a_snapshot(snapshot: Path) -> None:
    lines = read(snapshot).stdout.splitlines()
    assert lines[:2] == ["7 /registry/events/a/1 soon gone", "4 /registry/pods/a/1 second"]


def test_the_documented_script_detects_damage(snapshot: Path) -> None:
    snapshot.write_bytes(snapshot.read_bytes().replace(b"a test", b"a lie!"))
    assert "damaged" in read(snapshot).stderr

"""The operator and the test of docs/operator-clusters.md work."""

import re
import subprocess
import sys
from pathlib import Path

PAGE = (Path(__file__).parents[3] / "docs" / "operator-clusters.md").read_text()


def test_the_test_of_the_page_passes(tmp_path: Path) -> None:
    for name, code in re.findall(r"```python\n# (\S+)\n(.*?)```", PAGE, re.DOTALL):
        (tmp_path / name).write_text(code)
    assert {path.name for path in tmp_path.iterdir()} == {"boats.py", "test_boats.py"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_boats.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert found.returncode == 0, found.stdout + found.stderr

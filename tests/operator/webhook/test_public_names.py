"""Public names of the package, which is imported only on use."""

import subprocess
import sys
from types import ModuleType

from sampan.operator import webhook


def test_every_public_name_is_listed_and_there() -> None:
    there = {
        name for name, value in vars(webhook).items() if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert set(webhook.__all__) == there


def test_the_toolkit_itself_does_not_import_it() -> None:
    program = "import sys, sampan.operator; print('cryptography' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"

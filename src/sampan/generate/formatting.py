"""Formatting of generated Python with ruff, so that it is the same everywhere."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

LINE_LENGTH = 120


class FormatterMissing(Exception):
    """ruff is not installed; the message explains how to install it."""


def formatted(code: str) -> bytes:
    """Sort the imports of Python code and format it.

    Raises `FormatterMissing`; `ValueError` for invalid Python, which is a bug of the generator.
    """
    if find_spec("ruff") is None:
        raise FormatterMissing("ruff is missing, which formats generated code: pip install 'sampan[generate]'")
    sorted_imports = _ruff("check", "--select=I,F401", "--fix", "--exit-zero", text=code)
    return _ruff("format", text=sorted_imports).encode()


def _ruff(command: str, *options: str, text: str) -> str:
    arguments = ["--isolated", f"--line-length={LINE_LENGTH}", "--stdin-filename=generated.py", "--quiet", "-"]
    done = subprocess.run(
        [sys.executable, "-m", "ruff", command, *options, *arguments],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent,
    )
    if done.returncode != 0:
        raise ValueError(f"ruff {command}: {done.stderr}")
    return done.stdout

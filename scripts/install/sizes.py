"""Measures what the distributions take on disk, each in a fresh virtual environment.

    python -m scripts.install.sizes dist/*.whl

pip installs the wheels and their dependencies from the index that it is configured with. Sizes are those of `du`:
blocks on disk, with compiled files, without pip itself.
"""

import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Final

LIMITS_MB: Final = {"sampan": 150, "sampan_operator": 40, "sampan_docs": 30}
"""Limits of the default installation of each distribution, by the name in its wheels."""
_BLOCK: Final = 512
_MB: Final = 1024 * 1024
_SHOWN: Final = 8


def installed_mb(wheel: Path) -> dict[str, float]:
    """Return the size of each installed package, in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=False)
        python = str(Path(folder, "bin", "python"))
        subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", "--quiet", wheel], check=True)
        [packages] = Path(folder, "lib").glob("python*/site-packages")
        return {item.name: _size_mb(item) for item in packages.iterdir()}


def _size_mb(path: Path) -> float:
    files = [path, *path.rglob("*")] if path.is_dir() else [path]
    return sum(file.lstat().st_blocks * _BLOCK for file in files) / _MB


def main(wheels: Sequence[str]) -> int:
    """Print the sizes of wheels. Return 1 if one exceeds its limit."""
    exceeded = 0
    for wheel in map(Path, wheels):
        sizes = installed_mb(wheel)
        total, limit = sum(sizes.values()), LIMITS_MB[wheel.name.partition("-")[0]]
        largest = sorted(sizes.items(), key=lambda item: -item[1])[:_SHOWN]
        print(f"{wheel.name}: {total:.0f} MB (limit {limit})")
        print("   ", ", ".join(f"{name} {size:.0f}" for name, size in largest))
        exceeded += total > limit
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

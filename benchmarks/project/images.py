"""The speed of `sampan build`, with the wheels that are installed here: no package index and no registry takes part."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from tests.journeys.wheelhouse import write_wheels
from tests.project.image.projects import MACHINE, write_root_file_system

Sampan = Callable[..., float]


def build_figures(folder: Path, sampan: Sampan) -> dict[str, float]:
    """Return the time of the first build, which locks and packs all wheels, and of one after a change of the code."""
    wheels, root = folder / "wheels", folder / "fleet"
    write_wheels(wheels)
    sampan(folder, "init", "fleet", "--kind", "Boat", "--sampan-wheels", str(wheels))
    write_root_file_system(root / "base.tar", f"{sys.version_info.major}.{sys.version_info.minor}")
    with (root / "pyproject.toml").open("a") as file:
        file.write(
            f'\n[tool.sampan.image]\nname = "registry.invalid/fleet"\nbase = "base.tar"\nplatforms = ["{MACHINE}"]\n'
        )
    offline = {
        **os.environ,
        "UV_OFFLINE": "1",
        "UV_CACHE_DIR": str(folder / "uv"),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    first = sampan(root, "build", environment=offline)
    code = root / "src/fleet/boat/reconcile.py"
    code.write_text(code.read_text().replace('reason="Reconciled"', 'reason="Built"'))
    return {"first build": first, "second build": sampan(root, "build", environment=offline)}

"""`libraries`: shared libraries of a program, for images that are made of this computer's programs."""

import re
import subprocess
from pathlib import Path


def libraries(program: Path) -> list[Path]:
    """Return the shared libraries of a program, the dynamic loader included; none for a static one."""
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return [Path(path) for path in re.findall(r"(?:=> |^\s)(/\S+)", done.stdout, re.MULTILINE)]

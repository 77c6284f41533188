"""Environment of programs that a test starts with the address of a server."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_LOOPBACK: Final = "127.0.0.1,localhost"
_IN_CLUSTER: Final = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")


def program_environment(kubeconfig: Path, url: str, present: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a program that uses a server; `present` defaults to that of this process.

    The addresses of a surrounding cluster are removed: a test in a Pod of a CI system must not reach that cluster.
    """
    kept = {name: value for name, value in (present or os.environ).items() if name not in _IN_CLUSTER}
    for name in ("NO_PROXY", "no_proxy"):
        kept[name] = f"{kept[name]},{_LOOPBACK}" if kept.get(name) else _LOOPBACK
    return {**kept, "KUBECONFIG": str(kubeconfig), "SAMPAN_TEST_URL": url}

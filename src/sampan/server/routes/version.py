"""/version: the version of Kubernetes that this server implements.

kubectl and other clients parse `gitVersion` as a semantic version and compare major and minor with their own.
"""

import platform
import sys

from sampan import __version__
from sampan.core.kubernetes_version import KUBERNETES_VERSION, MAJOR, MINOR
from sampan.server.request import Request, Response
from sampan.wire import json as wire_json

GIT_VERSION = f"v{KUBERNETES_VERSION}+sampan-{__version__}"


async def show_version(request: Request) -> Response:
    """Return the document, always indented. Source: apiserver pkg/server/routes/version.go (1.36)."""
    return Response(200, wire_json.pretty(version_info()))


def version_info() -> dict[str, str]:
    """Return the document. `goVersion` and `compiler` name the Python runtime."""
    machine = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return {
        "major": MAJOR,
        "minor": MINOR,
        "emulationMajor": MAJOR,
        "emulationMinor": MINOR,
        "minCompatibilityMajor": MAJOR,
        "minCompatibilityMinor": str(int(MINOR) - 1),
        "gitVersion": GIT_VERSION,
        "gitCommit": "unknown",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": f"python{platform.python_version()}",
        "compiler": sys.implementation.name,
        "platform": f"{sys.platform}/{machine}",
    }

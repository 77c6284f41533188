"""/version: which Kubernetes this is.

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
    """The document, indented whoever asks. Source: apiserver pkg/server/routes/version.go (1.36)."""
    return Response(200, wire_json.pretty(version_info()))


def version_info() -> dict[str, str]:
    """The document. `goVersion` and `compiler` name what runs this server instead of Go."""
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

"""Versions of projects: those of Python packages as versions of charts and bundles."""

import re
from typing import Final

from sampan.project.errors import ProjectError

_PYTHON: Final = re.compile(
    r"v?(?:\d+!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<stage>a|b|c|rc|alpha|beta|pre|preview)[-_.]?(?P<count>\d*))?"
    r"(?:[-_.]?post[-_.]?(?P<post>\d*))?"
    r"(?:[-_.]?dev[-_.]?(?P<dev>\d*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?",
    re.IGNORECASE,
)
_STAGES: Final = {"a": "alpha", "b": "beta", "c": "rc", "pre": "rc", "preview": "rc"}


def semantic_version(version: str) -> str:
    """Return a Python version as a semantic one: `1.2rc1.dev3` is `1.2.0-rc.1.dev.3`.

    Raises `ProjectError` for a text that is no version.
    Source: packaging.python.org version specifiers; semver.org 2.0.0.
    """
    found = _PYTHON.fullmatch(version)
    if found is None:
        raise ProjectError(f"{version!r} is no version of a Python package: use one such as 1.2.0")
    numbers = [str(int(each)) for each in found["release"].split(".")]
    numbers += ["0"] * (3 - len(numbers))
    before = []
    if found["stage"]:
        stage = found["stage"].lower()
        before += [_STAGES.get(stage, stage), str(int(found["count"] or 0))]
    if found["dev"] is not None:
        before += ["dev", str(int(found["dev"] or 0))]
    build = [*numbers[3:]]
    if found["post"] is not None:
        build += ["post", str(int(found["post"] or 0))]
    if found["local"]:
        build += re.split(r"[-_.]", found["local"])
    text = ".".join(numbers[:3])
    return text + (f"-{'.'.join(before)}" if before else "") + (f"+{'.'.join(build)}" if build else "")

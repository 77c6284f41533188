"""The version in which each public name appeared, from `packaging/api/since.json`."""

import functools
import json
from collections.abc import Mapping
from typing import Final

from scripts.reference.definitions import SOURCE, public_names
from scripts.reference.packages import PACKAGES

from sampan import __version__

FILE: Final = SOURCE.parent / "packaging" / "api" / "since.json"


@functools.cache
def since() -> Mapping[str, str]:
    """Return the version of each public name: `sampan.client.Client`. A new name has the version of the source."""
    recorded = json.loads(FILE.read_text()) if FILE.is_file() else {}
    known = {name: version for version, names in recorded.items() for name in names}
    names = sorted(f"{package}.{name}" for package in PACKAGES for name in public_names(package))
    return {name: known.get(name, __version__) for name in names}


def record() -> str:
    """Return the text of the file for the public names of today."""
    found: dict[str, list[str]] = {}
    for name, version in since().items():
        found.setdefault(version, []).append(name)
    return json.dumps(dict(sorted(found.items())), indent=1) + "\n"

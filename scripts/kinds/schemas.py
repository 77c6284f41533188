"""Make `schemas.bin`, the packed definitions, from the published OpenAPI v2 document.

The build makes the same file from another copy of the definitions, because a build has no checkout of Kubernetes.
"""

import hatch_build
from scripts.kinds.sources import Sources

Json = dict[str, hatch_build.Json]


def definitions(sources: Sources) -> dict[str, hatch_build.Json]:
    """Return the definitions in the form of the packed file, without Go facts and defaults."""
    return hatch_build.normalized(sources.definitions)


def content(sources: Sources, fields: hatch_build.Json, defaults: hatch_build.Json) -> bytes:
    """Return the content of `schemas.bin`. `fields` and `defaults` are the content of the files of that name."""
    return hatch_build.packed(definitions(sources), fields, defaults)

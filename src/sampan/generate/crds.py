"""CustomResourceDefinition manifests from declared kinds, like controller-gen."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sampan.generate.declared import by_kind
from sampan.resource.crd import crd_of
from sampan.wire import yaml


def crd_files(classes: Iterable[type[Any]], folder: Path) -> dict[Path, bytes]:
    """Return one file for each kind, named `<group>_<plural>.yaml`. The output is deterministic.

    Raises `TypeError` for classes without CRD (see `crd_of`).
    """
    files: dict[Path, bytes] = {}
    for versions in by_kind(classes).values():
        crd = crd_of(*versions)
        spec = crd["spec"]
        files[folder / f"{spec['group']}_{spec['names']['plural']}.yaml"] = b"---\n" + yaml.encode(crd)
    return files

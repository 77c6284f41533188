"""`bundle_change`: the files of a bundle in its folder, compared with those that are there.

A record in the folder lists the files of each format. So a file that a format no longer has is removed, and a file of
another program never is.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from sampan.project.bundle.formats import FORMATS
from sampan.project.bundle.objects import OperatorObjects
from sampan.project.errors import ProjectError
from sampan.project.writing import ProjectChange

ALL: Final = "all"
RECORD: Final = ".sampan-bundle"
"""Not a name that `kubectl apply -f` takes for a manifest."""
_RECORD_BYTES_MAX: Final = 1 << 20


def bundle_change(found: OperatorObjects, formats: Sequence[str], folder: Path) -> ProjectChange:
    """Return what writing these formats to a folder changes. Nothing is written.

    Raises `ProjectError` for an unknown format, or something in the way.
    """
    chosen = list(FORMATS) if ALL in formats else list(dict.fromkeys(formats))
    for name in chosen:
        if name not in FORMATS:
            raise ProjectError(f"there is no format {name!r}: use {', '.join(FORMATS)} or {ALL}")
    texts = {name: FORMATS[name](found) for name in chosen}
    change, record = ProjectChange(folder), _read_record(folder)
    for files in texts.values():
        for path, text in files.items():
            change.replace(path, text)
    of_other_formats = {path for name, paths in record.items() if name not in texts for path in paths}
    for name in chosen:
        for path in record.get(name, ()):
            if path not in change.outcomes and path not in of_other_formats and change.read(path) is not None:
                change.remove(path)
    new = {**record, **{name: sorted(files) for name, files in texts.items()}}
    change.hidden[RECORD] = json.dumps(dict(sorted(new.items())), indent=1) + "\n"
    return change


def _read_record(folder: Path) -> Mapping[str, Sequence[str]]:
    place = folder / RECORD
    try:
        if place.stat().st_size > _RECORD_BYTES_MAX:
            raise ValueError(f"it has more than {_RECORD_BYTES_MAX} bytes")
        content = json.loads(place.read_bytes())
        if not isinstance(content, dict) or not all(_are_paths(each) for each in content.values()):
            raise ValueError("it is no table of paths in this folder")
        return content
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise ProjectError(f"{place} is broken ({error}): remove it") from error


def _are_paths(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(each, str) and not each.startswith("/") and ".." not in PurePosixPath(each).parts for each in value
    )

"""The data files, each with the function that makes its content. This is the one list of them."""

import json
from pathlib import Path
from typing import Final

from scripts.kinds import defaults, go_fields, messages, resources, schemas, typed_dicts
from scripts.kinds.sources import Sources

ROOT: Final = Path(__file__).parents[2]
DATA: Final = "src/sampan/registry/data"


def generate(sources: Sources) -> dict[str, bytes]:
    """Return the content of every data file by its path in the repository."""
    fields = go_fields.content(sources)
    stated = defaults.content(sources, json.loads(fields))
    return {
        f"{DATA}/resources.json": resources.content(sources),
        f"{DATA}/fields.json": fields,
        f"{DATA}/defaults.json": stated,
        f"{DATA}/schemas.bin": schemas.content(sources, json.loads(fields), json.loads(stated)),
        "src/sampan/wire/protobuf/messages.json": messages.content(sources),
        **typed_dicts.contents(sources, json.loads(fields)),
    }


def changed(made: dict[str, bytes], root: Path = ROOT) -> list[str]:
    """Return the paths whose file differs from its new content, or is missing."""
    return [name for name, content in made.items() if not _same(root / name, content)]


def write(made: dict[str, bytes], root: Path = ROOT) -> None:
    """Write the files below a repository's root."""
    for name, content in made.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _same(path: Path, content: bytes) -> bool:
    return path.exists() and path.read_bytes() == content

"""`LayerNotes`: layers that were made before, by a key of their inputs, so that a second build does not make them."""

import hashlib
import json
from pathlib import Path
from typing import Any

from sampan.oci.blob_store import BlobStore
from sampan.oci.descriptor import LAYER, Descriptor
from sampan.oci.layer import Layer


class LayerNotes:
    """Notes in a folder. A damaged note, or one whose layer is gone, counts as absent."""

    def __init__(self, directory: Path, store: BlobStore) -> None:
        self._directory, self._store = directory, store

    def find(self, inputs: list[Any], made_by: str) -> Layer | None:
        """Return the layer of these inputs, which are JSON values."""
        try:
            digest, size, diff_id = json.loads(self._path(inputs).read_text())
            found = Descriptor(LAYER, str(digest), int(size))
            return Layer(found, str(diff_id), made_by) if found.digest in self._store else None
        except (OSError, ValueError, TypeError):
            return None

    def add(self, inputs: list[Any], layer: Layer) -> None:
        """Remember a layer."""
        note = self._path(inputs)
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(json.dumps([layer.descriptor.digest, layer.descriptor.size, layer.diff_id]))

    def _path(self, inputs: list[Any]) -> Path:
        key = hashlib.sha256(json.dumps(inputs).encode()).hexdigest()
        return self._directory / f"{key}.json"

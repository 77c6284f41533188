"""`CompiledSchema`: all that is done with an object because of its schema, as closures made once per root."""

from typing import Any

from sampan.core.object import Object
from sampan.schema.decode import DecodeError, Decoder, DecoderCompiler, Lost
from sampan.schema.structural import Schema

__all__ = ["CompiledSchema", "DecodeError", "SchemaCompiler"]


class CompiledSchema:
    """What one root schema means for objects. Each part is compiled on first use."""

    def __init__(self, schema: Schema, decoders: DecoderCompiler) -> None:
        self.schema = schema
        self._decoders = decoders
        self._decoder: Decoder | None = None

    def decode(self, obj: Object, *, unknown: list[str] | None = None) -> None:
        """Read a built-in object in place: check types, prune, drop what is empty, default, canonicalise.

        The paths of unknown fields are appended to `unknown`. Raises `DecodeError` with the text of Go's decoder; the
        object is then half read.
        """
        decoder = self._decoder
        if decoder is None:
            decoder = self._decoder = self._decoders.compile(self.schema)
        lost: Lost = []
        decoder(obj, lost)
        if lost and unknown is not None:
            unknown += unknown_paths(obj, lost)


class SchemaCompiler:
    """Compiles root schemas and keeps the results; one per registry. Named built-in types are compiled once for all."""

    def __init__(self) -> None:
        self._decoders = DecoderCompiler()
        self._compiled: dict[int, CompiledSchema] = {}

    def compile(self, schema: Schema) -> CompiledSchema:
        """The compiled form of a root schema; the same one for the same schema."""
        compiled = self._compiled.get(id(schema))
        if compiled is None:
            compiled = self._compiled[id(schema)] = CompiledSchema(schema, self._decoders)
        return compiled

    def forget(self, schema: Schema) -> None:
        """Drop the compiled form of a schema that is no longer served (a CRD's old version)."""
        self._compiled.pop(id(schema), None)


def unknown_paths(obj: Object, lost: Lost) -> list[str]:
    """The paths of dropped fields (`spec.containers[0].foo`), found by looking for the dicts they were dropped from."""
    wanted = {id(parent) for parent, _ in lost}
    places: dict[int, str] = {}
    _find(obj, "", wanted, places)
    return [_join(places.get(id(parent), ""), key) for parent, key in lost]


def _find(value: Any, path: str, wanted: set[int], places: dict[int, str]) -> None:
    if type(value) is dict:
        if id(value) in wanted:
            places[id(value)] = path
        for key, item in value.items():
            _find(item, _join(path, key), wanted, places)
    elif type(value) is list:
        for index, item in enumerate(value):
            _find(item, f"{path}[{index}]", wanted, places)


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key

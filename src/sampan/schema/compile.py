"""`CompiledSchema`: all operations on objects that depend on the schema, compiled to closures once for each root."""

from typing import Any

from sampan.core.field import FieldError, Path, uncounted
from sampan.core.gvk import GroupVersionKind
from sampan.core.object import Object
from sampan.schema.builtin import Definitions
from sampan.schema.cel.rules.cel_times import CelTimes
from sampan.schema.decoding.decode import Decoder, Lost
from sampan.schema.decoding.decode_error import DecodeError
from sampan.schema.default import Defaulter, bounded_defaulter
from sampan.schema.embedded import all_embedded_errors
from sampan.schema.prune import Pruner, compile_pruner
from sampan.schema.structural import UNSET, Schema
from sampan.schema.validation.check import Check, compile_check
from sampan.schema.validation.listtype import list_errors
from sampan.schema.validation.report import Reporter
from sampan.schema.validation.required import required_errors
from sampan.schema.work import begin_steps, end_steps

__all__ = ["CompiledSchema", "DecodeError", "SchemaCompiler", "unknown_paths"]

_OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


class SchemaCompiler:
    """Compiler and cache of root schemas; one per registry.

    Built-in types with a name are compiled once for all registries with the same definitions.
    """

    def __init__(self, definitions: Definitions | None = None) -> None:
        self._definitions = definitions if definitions is not None else Definitions()
        self._compiled: dict[int, CompiledSchema] = {}
        self._object_meta: Decoder | None = None
        self.cel_times = CelTimes()
        """Durations of compiling and evaluating the CEL rules of these schemas, in seconds."""

    def compile(self, schema: Schema) -> "CompiledSchema":
        """Return the compiled form of a root schema; cached for each schema."""
        compiled = self._compiled.get(id(schema))
        if compiled is None:
            compiled = self._compiled[id(schema)] = CompiledSchema(schema, self)
        return compiled

    def forget(self, schema: Schema) -> None:
        """Drop the compiled form of a schema that is no longer served (a CRD's old version)."""
        self._compiled.pop(id(schema), None)

    def decoder(self, schema: Schema) -> Decoder:
        """Return the decoder of a built-in type."""
        return self._definitions.decoders.compile(schema)

    def is_builtin_kind(self, gvk: GroupVersionKind) -> bool:
        """Report whether a built-in type has this group, version and kind."""
        return self._definitions.name_for_kind(gvk) is not None

    def object_meta(self) -> Decoder:
        """Return the decoder of `metadata`."""
        if self._object_meta is None:
            self._object_meta = self.decoder(self._definitions.schema(_OBJECT_META))
        return self._object_meta


class CompiledSchema:
    """Compiled form of a root schema. Each part is compiled on first use.

    For built-in objects: `decode`, then `validate` if the type has no specific validation. For custom resources:
    `prune`, `default`, `validate`, and then the CEL rules (`x-kubernetes-validations`) if there are no errors.
    """

    def __init__(self, schema: Schema, compiler: SchemaCompiler, *, checked: Schema | None = None) -> None:
        """`checked` is the root that `validate` uses, if it is not `schema`."""
        self.schema = schema
        self._checked = schema if checked is None else checked
        self._compiler = compiler
        self._is_builtin = bool(schema.name)
        self._decoder: Decoder | None = None
        self._pruner: Pruner | None = None
        self._defaulter: Defaulter | None = None
        self._check: Check | None = None
        self._has_defaulter = False
        self._has_check = False

    def decode(self, obj: Object, *, unknown: list[str] | None = None) -> None:
        """Decode a built-in object in place: check types, prune, drop empty fields, set defaults, canonicalize.

        Appends the paths of unknown fields to `unknown`. Raises `DecodeError` with the message of Go's decoder; the
        object is then only partly decoded.
        """
        decoder = self._decoder
        if decoder is None:
            decoder = self._decoder = self._compiler.decoder(self.schema)
        lost: Lost = []
        decoder(obj, lost)
        if lost and unknown is not None:
            unknown += unknown_paths(obj, lost)

    def prune(self, obj: Object, unknown: list[str] | None = None) -> None:
        """Drop the fields of a custom resource that its schema does not define, and nulls that it does not allow.

        Also decodes the metadata. Appends the paths of unknown fields to `unknown`, sorted. Raises `DecodeError` when
        the metadata is malformed.
        """
        pruner = self._pruner
        if pruner is None:
            pruner = self._pruner = compile_pruner(self.schema, self._compiler.object_meta())
        lost: Lost = []
        pruner(obj, lost)
        if lost and unknown is not None:
            unknown += sorted(unknown_paths(obj, lost))

    def read_metadata(self, obj: Object) -> None:
        """Decode only the metadata of a custom resource. Raises `DecodeError`."""
        metadata = obj["metadata"] = obj.get("metadata") or {}
        self._compiler.object_meta()(metadata, [])

    def default(self, obj: Object) -> None:
        """Set the defaults of a custom resource's schema, in place. Idempotent."""
        if not self._has_defaulter:
            self._defaulter = bounded_defaulter(self.schema)
            self._has_defaulter = True
        if self._defaulter is not None:
            self._defaulter(obj)

    def validate(self, obj: Any, path: Path | None = None, old: Any = UNSET) -> list[FieldError]:
        """Return the errors of an object (or of the value at `path`, such as the status), as in kube-apiserver.

        `old` is the value that an update replaces: errors in unchanged values are dropped. Raises 413 if the schema's
        junctors (`allOf`, `anyOf`, `oneOf`, `not`) need too much work.
        """
        if self._is_builtin:
            return list(required_errors(self.schema, obj, path or Path()))
        if not self._has_check:
            self._check = compile_check(self._checked)
            self._has_check = True
        if self._check is None:
            return []
        steps = begin_steps()
        try:
            return [] if self._check(obj) else validation_errors(self._checked, obj, path, old)
        finally:
            end_steps(steps)


def validation_errors(schema: Schema, value: Any, path: Path | None = None, old: Any = UNSET) -> list[FieldError]:
    """Return the errors of a value without a compiled check first. Arguments as for `CompiledSchema.validate`."""
    with uncounted():
        errors = Reporter("" if path is None else str(path)).report(schema, value, old)
    start = path or Path()
    errors += all_embedded_errors(schema, value, start)
    if old is UNSET or not any(True for _ in list_errors(schema, old, start)):
        errors += list_errors(schema, value, start)
    return errors


def unknown_paths(obj: Object, lost: Lost) -> list[str]:
    """Return the paths of dropped fields (`spec.containers[0].foo`), by searching for the dicts that contained them."""
    desired = {id(parent) for parent, _ in lost}
    places: dict[int, str] = {}
    _find(obj, "", desired, places)
    return [_join(places.get(id(parent), ""), key) for parent, key in lost]


def _find(value: Any, path: str, desired: set[int], places: dict[int, str]) -> None:
    if type(value) is dict:
        if id(value) in desired:
            places[id(value)] = path
        for key, item in value.items():
            _find(item, _join(path, key), desired, places)
    elif type(value) is list:
        for index, item in enumerate(value):
            _find(item, f"{path}[{index}]", desired, places)


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key

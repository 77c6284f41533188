"""Local validation: the schema, the defaults and the CEL rules of a kind, without a server.

For unit tests of types, and for webhooks. The API server runs the same code on a CRD's objects.
"""

from typing import Any

from sampan.core.field import FieldError
from sampan.resource.crd import root_schema
from sampan.resource.declare import object_type
from sampan.resource.object_type import Object
from sampan.schema.cel.rules.validation import Validator
from sampan.schema.compile import CompiledSchema, SchemaCompiler
from sampan.schema.definition.openapi import parse
from sampan.wire import json


class KindValidator:
    """Compiles the schema of a declared class once, and validates objects with it.

    Raises `TypeError` if the class is not declared or has no structural schema.
    """

    def __init__(self, cls: type[Any]) -> None:
        schema = parse(root_schema(cls))
        self._encode = object_type(cls).encode
        self._compiled = CompiledSchema(schema, SchemaCompiler())
        self._rules = Validator(schema)

    def defaulted(self, obj: Any) -> Object:
        """Return a copy of the object as a dict with the defaults filled in, as the server would store it."""
        value: Object = json.decode(json.encode(obj) if isinstance(obj, dict) else self._encode(obj))
        self._compiled.default(value)
        return value

    def faults(self, obj: Any, old: Any = None) -> list[FieldError]:
        """Return all errors in an object (typed, or a dict); with `old`, those of the update from `old` to it.

        Rules are evaluated only if the object fits the schema. Metadata is not validated.
        """
        value = self.defaulted(obj)
        if old is None:
            return self._compiled.validate(value) or self._rules.validate(value)
        before = self.defaulted(old)
        return self._compiled.validate(value, old=before) or self._rules.validate(value, old=before)

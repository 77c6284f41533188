"""What the server would say of an object, said without one: the schema, the defaults and the CEL rules of a kind.

For unit tests of types, and for webhooks. It is the same code that the API server runs on a CRD's objects.
"""

from typing import Any

from sampan.core.field import FieldError
from sampan.resource.crd import root_schema
from sampan.resource.declare import object_type
from sampan.resource.object_type import Object
from sampan.schema.cel.validation import Validator
from sampan.schema.compile import CompiledSchema, SchemaCompiler
from sampan.schema.openapi import parse
from sampan.wire import json


class KindValidator:
    """Compiles what a declared class says, once, and checks objects by it.

    Raises `TypeError` when the class was not declared or has no structural schema.
    """

    def __init__(self, cls: type[Any]) -> None:
        schema = parse(root_schema(cls))
        self._encode = object_type(cls).encode
        self._compiled = CompiledSchema(schema, SchemaCompiler())
        self._rules = Validator(schema)

    def defaulted(self, obj: Any) -> Object:
        """The object as a dict, as the server would store it: with the defaults filled in. `obj` stays as it is."""
        value: Object = json.decode(json.encode(obj) if isinstance(obj, dict) else self._encode(obj))
        self._compiled.default(value)
        return value

    def faults(self, obj: Any, old: Any = None) -> list[FieldError]:
        """Everything that is wrong with an object (typed, or a dict); with `old`, with changing `old` into it.

        Rules are looked at when the schema holds. Metadata is not checked.
        """
        value = self.defaulted(obj)
        if old is None:
            return self._compiled.validate(value) or self._rules.validate(value)
        before = self.defaulted(old)
        return self._compiled.validate(value, old=before) or self._rules.validate(value, old=before)

"""`message_classes`: protobuf classes from a table of messages, for services of which few fields are used.

    CLASSES = message_classes("sampan.kms", "Entry: string key=1, bytes value=2\\nStatus: *Entry entries=1")
    CLASSES["Entry"](key="a")

A line has a message's name and its fields: type, name and number. `*` marks repeated fields. Fields that are left out
are skipped when a message is parsed. Enumerations are numbers. `oneof`s are not declared: on the wire they are plain
fields. The classes are in a separate pool, so they cannot clash with other definitions.
"""

from typing import Any, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory


class Method(NamedTuple):
    """Method of a gRPC service: its path, and the classes of its messages."""

    path: str
    request: Any
    response: Any


def message_classes(package: str, table: str) -> dict[str, Any]:
    """Return the classes of the messages in the table, by name. The first letter of each name is upper case."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    for line in filter(None, table.splitlines()):
        name, _, fields = line.partition(":")
        message = file.message_type.add(name=name)
        for declaration in filter(None, fields.split(",")):
            _add_field(message, declaration, package)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found = {message.name: pool.FindMessageTypeByName(f"{package}.{message.name}") for message in file.message_type}
    return {name: message_factory.GetMessageClass(descriptor) for name, descriptor in found.items()}


def _add_field(message: descriptor_pb2.DescriptorProto, declaration: str, package: str) -> None:
    kind, _, rest = declaration.strip().partition(" ")
    name, _, number = rest.partition("=")
    field = message.field.add(name=name, number=int(number))
    field.label = field.LABEL_REPEATED if kind.startswith("*") else field.LABEL_OPTIONAL
    kind = kind.removeprefix("*")
    if kind.islower():
        field.type = descriptor_pb2.FieldDescriptorProto.Type.Value(f"TYPE_{kind.upper()}")
    else:
        field.type, field.type_name = field.TYPE_MESSAGE, f".{package}.{kind}"

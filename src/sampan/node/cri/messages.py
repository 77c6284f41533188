"""Messages and enumerations of CRI, by their names in `api.proto`.

    from sampan.node.cri.messages import message, value
    config = message("PodSandboxConfig")(log_directory="/var/log/pods/x")
    value("SANDBOX_READY")      # 0

The classes are made from a descriptor (`api/`), not from generated code, because generated code works only with two
major versions of protobuf. They are in a separate pool, so that other copies of CRI's proto do not collide.
"""

import functools
from importlib.resources import files
from typing import Any, Final

from google.protobuf import descriptor, descriptor_pb2, descriptor_pool, message_factory

PACKAGE: Final = "runtime.v1"
AnyMessage = Any
"""Message of one of the classes, which are made at run time."""


@functools.cache
def _file() -> descriptor.FileDescriptor:
    """Return CRI's file, loaded on first use: only agents with a CRI runtime need it."""
    data = files("sampan.node.cri").joinpath("api/runtime_v1.binpb").read_bytes()
    (file,) = descriptor_pb2.FileDescriptorSet.FromString(data).file
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool.FindFileByName(file.name)


@functools.cache
def message(name: str) -> Any:
    """Return the class of a message. Raises `KeyError`."""
    return message_factory.GetMessageClass(_file().message_types_by_name[name])


@functools.cache
def value(name: str) -> int:
    """Return the number of an enumeration's value. Raises `KeyError`."""
    nested = (enum for each in _file().message_types_by_name.values() for enum in each.enum_types)
    for enum in (*_file().enum_types_by_name.values(), *nested):
        found = enum.values_by_name.get(name)
        if found is not None:
            return int(found.number)
    raise KeyError(name)


def methods(service: str) -> dict[str, tuple[str, str]]:
    """Return the names of the request and response of each method of a service."""
    found = _file().services_by_name[service].methods
    return {each.name: (each.input_type.name, each.output_type.name) for each in found}

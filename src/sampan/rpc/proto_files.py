"""`ProtoFiles`: messages and enumerations of a stored descriptor, by their names in the `.proto` file.

    FILES = ProtoFiles("sampan.csi", "api/csi_v1.binpb")
    FILES.message("NodeStageVolumeRequest")(volume_id="v")
    FILES.value("SINGLE_NODE_WRITER")

The classes are made from a descriptor, not from generated code, because generated code works only with two major
versions of protobuf. Each descriptor has its own pool, so that other copies of the same proto do not collide.
"""

import functools
from importlib.resources import files
from typing import Any

from google.protobuf import descriptor, descriptor_pb2, descriptor_pool, message_factory

AnyMessage = Any
"""Message of one of the classes, which are made at run time."""


class ProtoFiles:
    """Classes of one descriptor set. Read on first use, then kept."""

    def __init__(self, package: str, path: str) -> None:
        """`package`: Python package with the data. `path`: path of the descriptor set in the package. The last file of
        the set contains the messages.
        """
        self._package = package
        self._path = path

    @functools.cached_property
    def _file(self) -> descriptor.FileDescriptor:
        data = files(self._package).joinpath(self._path).read_bytes()
        pool = descriptor_pool.DescriptorPool()
        described = descriptor_pb2.FileDescriptorSet.FromString(data).file
        for file in described:
            pool.Add(file)
        return pool.FindFileByName(described[-1].name)

    @functools.cached_property
    def _numbers(self) -> dict[str, int]:
        enums = list(self._file.enum_types_by_name.values())
        waiting = list(self._file.message_types_by_name.values())
        while waiting:
            each = waiting.pop()
            enums.extend(each.enum_types)
            waiting.extend(each.nested_types)
        return {value.name: int(value.number) for enum in enums for value in enum.values}

    def message(self, name: str) -> Any:
        """Return the class of a message; a nested one as `Outer.Inner`. Raises `KeyError`."""
        first, *rest = name.split(".")
        found = self._file.message_types_by_name[first]
        for each in rest:
            found = found.nested_types_by_name[each]
        return message_factory.GetMessageClass(found)

    def value(self, name: str) -> int:
        """Return the number of an enumeration's value. Raises `KeyError`.

        If several enumerations have a value of this name, it returns any of their numbers.
        """
        return self._numbers[name]

    def methods(self, service: str) -> dict[str, tuple[str, str]]:
        """Return the names of the request and response of each method of a service. Raises `KeyError`."""
        found = self._file.services_by_name[service].methods
        return {each.name: (each.input_type.name, each.output_type.name) for each in found}

    @property
    def proto_package(self) -> str:
        """Package of the `.proto` file, which is part of the paths of its methods."""
        return str(self._file.package)

"""The type of a set of tables."""

from sampan.registry.definition import Column

ResourceVersionKey = tuple[str, str, str]
"""Group, resource, version."""

Tables = dict[ResourceVersionKey, tuple[Column, ...]]

"""`Builtins`: the built-in resources of one cluster, which are created before its store and its caches."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

from sampan.registry.catalogue import builtin_definitions
from sampan.registry.definition import ResourceDefinition, SubresourceDefinition
from sampan.registry.kinds.builtin import BUILTIN_KINDS
from sampan.schema.builtin import Definitions
from sampan.schema.compile import SchemaCompiler


class Builtins:
    """Definitions of the built-in resources, their schemas, and the compiler of these schemas.

    A store that upgrades stored objects needs them, so they are created before the store and the cluster.
    """

    def __init__(self, schemas: Definitions | None = None, known: Sequence[ResourceDefinition] = ()) -> None:
        """Create the definitions. Clusters may share `schemas`; None: load them from the package data.

        `known`: definitions of another cluster with the same schemas. They are copied, which is faster.
        """
        self.schemas = schemas or Definitions()
        self.compiler = SchemaCompiler(self.schemas)
        self.definitions = [_own(each) for each in known or builtin_definitions(self.schemas, BUILTIN_KINDS)]


def _own(definition: ResourceDefinition) -> ResourceDefinition:
    """Return the definition for one cluster: the CRD controller sets fields of a definition, strategies may cache."""
    made = copy(definition)
    made.strategy = definition.strategy.for_cluster()
    made.subresources = {name: _own_part(each) for name, each in definition.subresources.items()}
    return made


def _own_part(part: SubresourceDefinition) -> SubresourceDefinition:
    return part if part.strategy is None else replace(part, strategy=part.strategy.for_cluster())

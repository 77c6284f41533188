"""`Builtins`: the built-in resources of one cluster, which are created before its store and its caches."""

from collections.abc import Sequence
from copy import copy

from sampan.registry.catalogue import builtin_definitions
from sampan.registry.definition import ResourceDefinition
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
        # The CRD controller sets fields of a definition, so each cluster has its copies.
        self.definitions = [copy(each) for each in known] or builtin_definitions(self.schemas, BUILTIN_KINDS)

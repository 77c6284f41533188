"""`Kind`: all special behavior of a built-in kind, in one value.

Names, verbs, scopes and schemas are data. `catalogue.py` joins both into a `ResourceDefinition`.
"""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field

from sampan.core.object import Object
from sampan.registry.columns.age import Ages
from sampan.registry.definition import Column, Conversion, RowConditions, RowOrder
from sampan.registry.strategy import Strategy
from sampan.schema.builtin import Definitions
from sampan.schema.structural import Schema

MakeColumns = Callable[[Ages], tuple[Column, ...]]
"""Make the columns of a table; cells that show ages use `clock`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindVersion:
    """Differences of one version from its kind. A version that `data/resources.json` does not list is added."""

    conversion: Conversion | None = None
    """Conversion to and from the hub; None: the version is the hub."""
    columns: MakeColumns | None = None
    """Columns of this version; None: the columns of the kind."""
    deprecation_warning: str = ""
    """Warning for clients that use this version; empty: it is not deprecated."""
    strategy: Strategy | None = None
    """Strategy of this version; None: the strategy of the kind."""
    schema: Callable[[Definitions], Schema] | None = None
    """Schema of an added version; None: the schema of the stored version."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A built-in kind; the default values of the fields suit most kinds."""

    group: str
    resource: str
    strategy: Strategy = field(default_factory=Strategy)
    """Names, defaults, rules, warnings and field labels."""
    _: KW_ONLY
    columns: MakeColumns | None = None
    """Columns of `kubectl get`; None: name and creation time."""
    row_conditions: RowConditions | None = None
    row_order: RowOrder | None = None
    """Sort key of the rows of a list's Table; None: in the order of the objects' keys."""
    versions: Mapping[str, KindVersion] = field(default_factory=dict)
    """Versions that differ from the kind, and alpha or beta versions to serve, by name."""
    old_versions: Mapping[str, Callable[[Object], None]] = field(default_factory=dict)
    """Functions that convert a stored object in place to the newest version, except its `apiVersion`, by the apiVersion
    of the object. Versions of the same group that differ only in their name need none.
    """
    subresources: Mapping[str, Strategy] = field(default_factory=dict)
    """Strategies of subresources that are written like the object, by name."""
    storage_prefix: str = ""
    """Part of the storage keys after `/registry/`; empty: the resource."""
    storage_group: str | None = None
    """Group of the stored form; None: the kind's group."""

"""Libraries that Kubernetes 1.36 provides to every expression. Source: pkg/cel/environment/base.go."""

from sampan.schema.cel.library.authorization import AUTHORIZATION
from sampan.schema.cel.library.formats import FORMATS
from sampan.schema.cel.library.lists import LISTS, SETS
from sampan.schema.cel.library.net import CIDRS, IPS
from sampan.schema.cel.library.optionals import OPTIONALS
from sampan.schema.cel.library.quantities import QUANTITIES
from sampan.schema.cel.library.regex import REGEX
from sampan.schema.cel.library.semver import SEMVER
from sampan.schema.cel.library.standard import STANDARD
from sampan.schema.cel.library.strings import STRINGS
from sampan.schema.cel.library.urls import URLS

KUBERNETES = (
    *(STANDARD, URLS, REGEX, LISTS, AUTHORIZATION, OPTIONALS, QUANTITIES),
    *(STRINGS, SETS, IPS, CIDRS, FORMATS, SEMVER),
)

"""Names in projects: those of packages, kinds, groups and versions are names of Python, DNS and Kubernetes at once."""

import keyword
import re
import sys
from typing import Final

from sampan.generate.names import snake_case
from sampan.project.errors import ProjectError
from sampan.resource.declare import plural_of

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_DOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+")
_KIND: Final = re.compile(r"[A-Z][A-Za-z0-9]*")
_VERSION: Final = re.compile(r"v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?")
_LABEL_LENGTH_MAX: Final = 63
_DOMAIN_LENGTH_MAX: Final = 253
_TAKEN: Final = frozenset(["sampan", "tests", "test", "msgspec", "pytest"])
"""Packages that a project imports, or that its tests are in."""
_MODULES_OF_A_PROJECT: Final = frozenset(["app", "operator", "webhooks"])
"""Modules of the package, and tests, next to those of the kinds. A kind of this name would hide them."""
_BUILT_IN: Final = """
apiservices bindings certificatesigningrequests clusterrolebindings clusterroles componentstatuses configmaps
controllerrevisions cronjobs csidrivers csinodes csistoragecapacities customresourcedefinitions daemonsets
deployments deviceclasses endpoints endpointslices events flowschemas horizontalpodautoscalers ingressclasses
ingresses ipaddresses jobs leases limitranges localsubjectaccessreviews mutatingadmissionpolicies
mutatingadmissionpolicybindings mutatingwebhookconfigurations namespaces networkpolicies nodes
persistentvolumeclaims persistentvolumes poddisruptionbudgets pods podtemplates priorityclasses
prioritylevelconfigurations replicasets replicationcontrollers resourceclaims resourceclaimtemplates resourcequotas
resourceslices rolebindings roles runtimeclasses secrets selfsubjectaccessreviews selfsubjectreviews
selfsubjectrulesreviews serviceaccounts servicecidrs services statefulsets storageclasses subjectaccessreviews
tokenreviews validatingadmissionpolicies validatingadmissionpolicybindings validatingwebhookconfigurations
volumeattachments volumeattributesclasses
"""
BUILT_IN: Final = frozenset(_BUILT_IN.split())
"""Resources of Kubernetes. One of a project with such a name needs its group: `events.harbour.example.com`."""
_OWN_KINDS: Final = frozenset(["Annotated", "Literal", "Condition", "Column", "CustomResource", "Any"])
"""Names that the module of a kind imports."""


def check_project_name(name: str) -> str:
    """Return the import package of a project name. Raises `ProjectError` unless both names are valid."""
    _check(name, _LABEL, _LABEL_LENGTH_MAX, "a name of a project", "lower-case letters, digits and -, such as my-boats")
    package = name.replace("-", "_")
    if not package.isidentifier() or keyword.iskeyword(package):
        raise ProjectError(f"{name!r} cannot be a project: {package} is no name of a Python package; choose another")
    if package in _TAKEN or package in sys.stdlib_module_names:
        raise ProjectError(f"{name!r} cannot be a project: it would hide the Python package {package}; choose another")
    return package


def check_group(group: str) -> str:
    """Return the API group. Raises `ProjectError` unless it is a DNS name with a dot."""
    _check(group, _DOMAIN, _DOMAIN_LENGTH_MAX, "an API group", "a DNS name with a dot, such as harbour.example.com")
    return group


def check_kind(kind: str) -> str:
    """Return the kind. Raises `ProjectError` unless it can be a kind, a class, and a resource."""
    _check(kind, _KIND, _LABEL_LENGTH_MAX - 4, "a kind", "letters and digits with an upper-case first, such as Boat")
    if keyword.iskeyword(kind) or kind in _OWN_KINDS:
        raise ProjectError(f"{kind!r} cannot be a kind: the module of a kind uses this name; choose another")
    return kind


def check_version(version: str) -> str:
    """Return the version. Raises `ProjectError` unless it is one of Kubernetes' form."""
    _check(version, _VERSION, _LABEL_LENGTH_MAX, "an API version", "v1, v1beta1 or v2alpha1")
    return version


def is_version(text: str) -> bool:
    """Return True for a text in the form of a version."""
    return _VERSION.fullmatch(text) is not None


def module_of(kind: str) -> str:
    """Return the name of the package with the modules of a kind: `boat`, `boat_house`, `class_`."""
    name = snake_case(kind)
    return f"{name}_" if name in _MODULES_OF_A_PROJECT else name


def words_of(kind: str) -> str:
    """Return the kind in a sentence: `boat house` for `BoatHouse`."""
    return snake_case(kind).strip("_").replace("_", " ")


def article(words: str) -> str:
    """Return the words with the indefinite article."""
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def several(kind: str) -> str:
    """Return the plural of a kind in a sentence: `boat houses`."""
    *before, last = words_of(kind).split()
    return " ".join([*before, plural_of(last)])


def _check(name: str, pattern: re.Pattern[str], length_max: int, what: str, form: str) -> None:
    if not pattern.fullmatch(name):
        raise ProjectError(f"{name!r} cannot be {what}: use {form}")
    if len(name) > length_max:
        raise ProjectError(f"{name[:20] + '…'!r} cannot be {what}: it has more than {length_max} characters")

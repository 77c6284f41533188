"""Meanings of fields, by their names: a field `image` gets an image, `secretName` the name of a Secret that exists.

In a schema, these fields are only texts. `Meanings` has the usual ones; a test can add its own:

    meanings = USUAL.with_field("region", lambda choices: pick(choices, ("eu-west-1", "us-east-1")))
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from sampan.core.object import Object
from sampan.schema.derived import derived
from sampan.schema.structural import Schema
from sampan.testing.generated.choices import Choices, pick
from sampan.testing.generated.values.formats import TEXTS, cidr, duration, ipv4, label, quantity

Make = Callable[[Choices], Any]
SECRET: Final = "generated-secret"
CONFIG_MAP: Final = "generated-config"
_KEYS: Final = ("username", "password", "token", "tls.crt", "tls.key", "ca.crt", "key", "value")


@dataclass(frozen=True, slots=True)
class Meaning:
    """Values of the fields whose name matches. They are used only if the schema accepts them."""

    name: re.Pattern[str]
    types: tuple[str, ...]
    """Types of the schema: `string`, `integer`, or `ref` for an object with a `name`."""
    make: Make


def _meaning(name: str, types: str, make: Make) -> Meaning:
    return Meaning(re.compile(rf"^({name})\Z", re.IGNORECASE), tuple(types.split()), make)


_SECRET_NAMES: Final = ".*secret(name|ref)?"
_CONFIG_NAMES: Final = ".*configmap(name|ref)?"


@dataclass(frozen=True, slots=True, eq=False)
class Meanings:
    """Meanings in the order in which they are tried."""

    meanings: tuple[Meaning, ...] = ()

    def with_field(self, name: str, make: Make) -> "Meanings":
        """Return these meanings and one more: values of the fields whose whole name matches the expression."""
        return replace(self, meanings=(_meaning(name, "string integer number boolean", make), *self.meanings))

    def of(self, name: str, schema: Schema) -> Make | None:
        """Return the function that makes values of a field, or None if its name has no meaning."""
        kind = "ref" if schema.type == "object" and "name" in schema.properties else schema.type
        rules = schema.validations
        if rules is not None and (rules.enum or (rules.format and rules.format not in ("int32", "int64"))):
            return None
        return _named(self, name, kind)


@lru_cache(4096)
def _named(meanings: Meanings, name: str, kind: str) -> Make | None:
    return next((each.make for each in meanings.meanings if kind in each.types and each.name.match(name)), None)


USUAL: Final = Meanings(
    (
        _meaning("image", "string", lambda choices: f"registry.example.com/app:{choices.integer(1, 9)}"),
        _meaning("schedule|cron", "string", lambda choices: f"{choices.integer(0, 59)} * * * *"),
        _meaning("replicas|size|count", "integer", lambda choices: choices.integer(1, 5)),
        _meaning("storage|storagesize|size|capacity|memory|cpu", "string", quantity),
        _meaning("duration|timeout|interval|ttl", "string", lambda choices: f"{choices.integer(1, 59)}s"),
        _meaning(_SECRET_NAMES, "string", lambda choices: SECRET),
        _meaning(_CONFIG_NAMES, "string", lambda choices: CONFIG_MAP),
        _meaning(_SECRET_NAMES, "ref", lambda choices: {"name": SECRET}),
        _meaning(_CONFIG_NAMES, "ref", lambda choices: {"name": CONFIG_MAP}),
        _meaning("serviceaccount(name)?", "string", lambda choices: "default"),
        _meaning("storageclass(name)?", "string", lambda choices: "standard"),
        _meaning("host|hostname|domain", "string", lambda choices: f"{label(choices)}.example.com"),
        _meaning("port|.*port", "integer", lambda choices: pick(choices, (80, 443, 8080, 65535))),
        _meaning(".*cidr|subnet", "string", cidr),
        _meaning("gateway|.*ip|ipaddress", "string", ipv4),
        _meaning("name|.*name", "string", label),
        _meaning("namespace", "string", lambda choices: "default"),
        # A cluster has one family of addresses by default.
        _meaning("ipfamil(y|ies?)", "string", lambda choices: "IPv4"),
        _meaning("ipfamilypolicy", "string", lambda choices: pick(choices, ("SingleStack", "PreferDualStack"))),
    )
)
"""Meanings of names that many kinds share."""

_TIME_ZONES: Final = ("Etc/UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata")
_POD_FIELDS: Final = ("metadata.name", "metadata.namespace", "spec.nodeName", "status.podIP")
_BUILT_IN: Final = (
    _meaning("hostname(override)?|subdomain|topologykey|containername|search(es)?|conditiontype|key", "string", label),
    _meaning("(?!.*subpath).*path", "string", lambda choices: f"/{label(choices)}"),
    _meaning("timezone", "string", lambda choices: pick(choices, _TIME_ZONES)),
    _meaning("managedby|driver|.*classname", "string", lambda choices: f"example.com/{label(choices)}"),
    _meaning("apigroup", "string", lambda choices: f"{label(choices)}.example.com"),
    _meaning("weight", "integer", lambda choices: choices.integer(1, 100)),
    _meaning("successthreshold", "integer", lambda choices: choices.integer(1, 2)),
    _meaning("nameserver", "string", ipv4),
    _meaning("loadbalancersourcerange|except", "string", cidr),
    _meaning(".*labelkey", "string", label),
    _meaning("recursivereadonly", "string", lambda choices: pick(choices, ("Disabled", "IfPossible"))),
    _meaning("mountpropagation", "string", lambda choices: pick(choices, ("None", "HostToContainer"))),
)


@lru_cache(64)
def built_in(meanings: Meanings) -> Meanings:
    """Return the meanings for built-in kinds: these and some that only those kinds share."""
    return replace(
        meanings,
        meanings=(
            _meaning("fieldpath", "string", lambda choices: pick(choices, _POD_FIELDS)),
            *meanings.meanings,
            *_BUILT_IN,
        ),
    )


_RULES: Final[tuple[tuple[re.Pattern[str], Make], ...]] = (
    (re.compile(r"isCIDR\(self\)|cidr\(self\)"), cidr),
    (re.compile(r"isIP\(self\)|ip\(self\)"), ipv4),
    (re.compile(r"isURL\(self\)|url\(self\)"), TEXTS["uri"]),
    (re.compile(r"[qQ]uantity\(self\)"), quantity),
    (re.compile(r"duration\(self\)"), duration),
    (re.compile(r"format\.dns1123|format\.named"), label),
)
_MATCHES: Final = re.compile(r"""^self\.matches\((?:r?'([^'\\]+)'|r?"([^"\\]+)")\)\Z""")


@derived
def hinted(schema: Schema) -> Make | None:
    """Return the function that makes values as a CEL rule of the node itself requires, or None."""
    for rule in schema.rules:
        for pattern, make in _RULES:
            if pattern.search(rule.rule):
                return make
    return None


@derived
def pattern_of(schema: Schema) -> str:
    """Return the pattern of a node: its keyword, or that of a rule with `matches`."""
    rules = schema.validations
    if rules is not None and rules.pattern:
        return rules.pattern
    found = (_MATCHES.match(each.rule.strip()) for each in schema.rules)
    return next((each[1] or each[2] for each in found if each is not None), "")


def companions(obj: Object, namespace: str = "default") -> Sequence[Object]:
    """Return the Secrets and ConfigMaps that a generated object names. A test applies them before the object."""
    found: list[Object] = []
    texts = set(_texts(obj))
    keys = {each for each in texts if re.fullmatch(r"[-._a-zA-Z0-9]{1,63}", each)} | set(_KEYS)
    for kind, name, part in (("Secret", SECRET, "stringData"), ("ConfigMap", CONFIG_MAP, "data")):
        if name in texts:
            metadata = {"name": name, "namespace": namespace}
            data = dict.fromkeys(sorted(keys), "value")
            found.append({"apiVersion": "v1", "kind": kind, "metadata": metadata, part: data})
    return found


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)

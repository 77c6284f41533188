"""Selectors of a request as one predicate for cached records.

Source: apiserver pkg/storage/selection_predicate.go, per-type field label conversions (1.36).
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass

from sampan.core import errors
from sampan.core.selectors import FieldSelector, Selector, parse_fields, parse_labels
from sampan.registry.endpoint import Endpoint
from sampan.server.verbs.options import ListOptions
from sampan.storage.records import Record, field_of_version

_METADATA_FIELDS = frozenset({"metadata.name", "metadata.namespace"})
_CACHED_LENGTH_MAX = 4096


@dataclass(frozen=True, slots=True)
class Unconverted:
    """Part of a selector that depends on the version, for records that are not converted to that version yet."""

    fields: FieldSelector
    known: str

    def confirms(self, endpoint: Endpoint, record: Record) -> bool:
        """Return True if a converted record is selected. Raises `StatusError` 500 if it could not be converted."""
        if self.known in record.fields:
            return True
        obj = endpoint.object_of(record.value)
        if obj["apiVersion"] != endpoint.api_version:
            raise errors.internal_error(f"an object of {obj['apiVersion']} was not converted")
        return self.fields.matches(endpoint.store.strategy.selectable_fields(obj))


@dataclass(frozen=True, slots=True)
class SelectionPredicate:
    """Compiled selectors. `matches` is None if everything is selected; `name` is set if only one object can match.

    With `unconverted`, records match whose selectable fields in the version of the request are unknown. `confirms`
    decides after their conversion.
    """

    matches: Callable[[Record], bool] | None
    name: str = ""
    unconverted: Unconverted | None = None

    def confirms(self, endpoint: Endpoint, record: Record) -> bool:
        """Return True if a matching record is selected. Its value must be in the version of the endpoint."""
        return self.unconverted is None or self.unconverted.confirms(endpoint, record)

    @property
    def everything(self) -> bool:
        """Return True if nothing is filtered."""
        return self.matches is None


EVERYTHING = SelectionPredicate(None)


def selection_of(endpoint: Endpoint, options: ListOptions, request_name: str = "") -> SelectionPredicate:
    """Parse and check the selectors. Raises 400: bad syntax, unsupported field."""
    if not options.label_selector and not options.field_selector and not request_name:
        return EVERYTHING
    try:
        labels = parse_labels(options.label_selector) if options.label_selector else None
        fields = parse_fields(options.field_selector) if options.field_selector else None
    except ValueError as error:
        raise errors.bad_request(str(error)) from None
    if fields is not None and not fields.empty:
        fields = _renamed(endpoint, fields)
    name = _single_name(fields, request_name)
    if fields is None or not endpoint.dialect.selects_by_version:
        return SelectionPredicate(_predicate(labels, fields, name), name)
    own, rest = _by_version(fields)
    if own.empty:
        return SelectionPredicate(_predicate(labels, rest, name), name)
    version = endpoint.version.name
    known = field_of_version(version)
    of_version = own.transform(lambda field, value: (field_of_version(version, field), value))
    return SelectionPredicate(_predicate(labels, rest, name, of_version, known), name, Unconverted(own, known))


def _by_version(fields: FieldSelector) -> tuple[FieldSelector, FieldSelector]:
    """Split a selector on a custom resource into the part that depends on the version and the part that does not."""
    own = [requirement for requirement in fields.requirements if requirement.field not in _METADATA_FIELDS]
    rest = [requirement for requirement in fields.requirements if requirement.field in _METADATA_FIELDS]
    return FieldSelector(own), FieldSelector(rest)


def _single_name(fields: FieldSelector | None, request_name: str) -> str:
    selected = "" if fields is None else fields.requires_exact("metadata.name") or ""
    if request_name and fields is not None and not fields.empty and selected != request_name:
        raise errors.bad_request("fieldSelector metadata.name doesn't match requested name")
    return request_name or selected


def _renamed(endpoint: Endpoint, fields: FieldSelector) -> FieldSelector:
    """Check that each field is selectable, and replace old names by current ones."""
    strategy = endpoint.store.strategy
    supported = strategy.field_labels(endpoint.api_version)
    if not (endpoint.definition.namespaced or endpoint.dialect.labels_namespace_of_cluster_scoped):
        supported -= {"metadata.namespace"}
    aliases = strategy.field_label_aliases

    def convert(name: str, value: str) -> tuple[str, str]:
        if name in aliases:
            return aliases[name], value
        if name not in supported:
            raise errors.bad_request(endpoint.dialect.unsupported_field_label(name, not supported <= _METADATA_FIELDS))
        return name, value

    return fields.transform(convert)


def _predicate(
    labels: Selector | None,
    fields: FieldSelector | None,
    name: str,
    of_version: FieldSelector | None = None,
    known: str = "",
) -> Callable[[Record], bool] | None:
    """Return the conjunction of the selectors, or None if it selects everything.

    `of_version` applies to records whose `fields` have the key `known`. Equal selectors return the same predicate, so
    that watchers share its results. Long selectors are not cached, because clients could fill the memory with them.
    """
    size = sum(len(selector.text) for selector in (labels, fields, of_version) if selector is not None)
    make = _cached_conjunction if size <= _CACHED_LENGTH_MAX else _conjunction
    return make(labels, fields, name, of_version, known)


def _conjunction(
    labels: Selector | None, fields: FieldSelector | None, name: str, of_version: FieldSelector | None, known: str
) -> Callable[[Record], bool] | None:
    tests: list[Callable[[Record], bool]] = []
    if name and (fields is None or fields.empty):
        tests.append(lambda record: record.name == name)
    if labels is not None and not labels.empty:
        label_matches = labels.matches
        tests.append(lambda record: label_matches(record.labels))
    if fields is not None and not fields.empty:
        field_matches = fields.matches
        tests.append(lambda record: field_matches(record.fields))
    if of_version is not None:
        version_matches = of_version.matches
        tests.append(lambda record: known not in record.fields or version_matches(record.fields))
    if len(tests) < 2:
        return tests[0] if tests else None
    return lambda record: all(test(record) for test in tests)


_cached_conjunction = functools.lru_cache(maxsize=1024)(_conjunction)

"""Selectors of a request as one predicate over cached records.

Source: apiserver pkg/storage/selection_predicate.go, per-type field label conversions (1.36).
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass

from sampan.core import errors
from sampan.core.selectors import FieldSelector, Selector, parse_fields, parse_labels
from sampan.registry.endpoint import Endpoint
from sampan.server.verbs.options import ListOptions
from sampan.storage.records import Record

_METADATA_FIELDS = frozenset({"metadata.name", "metadata.namespace"})


@dataclass(frozen=True, slots=True)
class Selection:
    """`matches` is None when everything is wanted; `name` is set when only one object can match."""

    matches: Callable[[Record], bool] | None
    name: str = ""

    @property
    def everything(self) -> bool:
        """Whether nothing is filtered."""
        return self.matches is None


EVERYTHING = Selection(None)


def selection_of(endpoint: Endpoint, options: ListOptions, request_name: str = "") -> Selection:
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
    return Selection(_predicate(labels, fields, name), name)


def _single_name(fields: FieldSelector | None, request_name: str) -> str:
    selected = "" if fields is None else fields.requires_exact("metadata.name") or ""
    if request_name and fields is not None and not fields.empty and selected != request_name:
        raise errors.bad_request("fieldSelector metadata.name doesn't match requested name")
    return request_name or selected


def _renamed(endpoint: Endpoint, fields: FieldSelector) -> FieldSelector:
    """Check that each field may be selected on; old names become today's."""
    strategy = endpoint.store.strategy
    supported = strategy.field_labels(endpoint.api_version)
    if not (endpoint.definition.builtin or endpoint.definition.namespaced):
        supported -= {"metadata.namespace"}
    aliases = strategy.field_label_aliases

    def convert(name: str, value: str) -> tuple[str, str]:
        if name in aliases:
            return aliases[name], value
        if name not in supported:
            raise errors.bad_request(_unsupported(endpoint, name, supported))
        return name, value

    return fields.transform(convert)


def _unsupported(endpoint: Endpoint, label: str, supported: frozenset[str]) -> str:
    if endpoint.definition.builtin and supported <= _METADATA_FIELDS:
        return f'"{label}" is not a known field selector: only "metadata.name", "metadata.namespace"'
    return f"field label not supported: {label}"


@functools.lru_cache(maxsize=1024)
def _predicate(labels: Selector | None, fields: FieldSelector | None, name: str) -> Callable[[Record], bool] | None:
    """Equal selectors give the same predicate, so that watchers with equal selectors share its verdicts."""
    label_matches = None if labels is None or labels.empty else labels.matches
    field_matches = None if fields is None or fields.empty else fields.matches
    if field_matches is None and name:
        if label_matches is None:
            return lambda record: record.name == name
        return lambda record: record.name == name and label_matches(record.labels)
    if label_matches is None:
        return None if field_matches is None else lambda record: field_matches(record.fields)
    if field_matches is None:
        return lambda record: label_matches(record.labels)
    return lambda record: label_matches(record.labels) and field_matches(record.fields)

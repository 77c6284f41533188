"""Reading of stored custom resources: each value is converted to the current schema and storage version.

A value may have been written under an earlier schema or storage version. The cache prunes it, applies defaults and
changes its apiVersion once, when it reads the row. Values that were written under the current definition need no
conversion.
Source: apiextensions pkg/apiserver/customresource_handler.go (schemaCoercingDecoder, unstructuredDefaulter) (1.36).
"""

from collections.abc import Callable

from sampan.core import errors
from sampan.core.object import Object
from sampan.registry.crd.custom_resource import CustomResourceStrategy
from sampan.registry.definition import ResourceDefinition, VersionDefinition
from sampan.storage.encoding import decode, encode, extractor
from sampan.storage.records import Extract, Record, field_of_version
from sampan.storage.store import KeyValue
from sampan.wire import json as wire_json

Convert = Callable[[Object], Object]


def strategy_of(version: VersionDefinition) -> CustomResourceStrategy:
    """Return the strategy of a custom resource's version."""
    strategy = version.strategy
    assert isinstance(strategy, CustomResourceStrategy)
    return strategy


def converter(
    definition: ResourceDefinition, source: VersionDefinition, target: VersionDefinition, *, prunes: bool = True
) -> Convert:
    """Return the conversion of strategy None: it changes the apiVersion and drops fields that are not in the target's
    schema, unless `prunes` is False. It sets no defaults: requests get those of their version, stored objects those of
    the storage version.

    With a webhook or a HubConversion the object has already been converted. An object in another version is then
    refused, because an error is better than a wrong object.
    """
    api_version = target.api_version_of(definition.group)
    schema = strategy_of(target).schema
    alike = strategy_of(source).schema.same_as(schema)

    def convert(obj: Object) -> Object:
        if obj.get("apiVersion") == api_version:
            return obj
        if definition.webhook is not None:
            kind = f"{obj.get('apiVersion')}, Kind={definition.kind}"
            raise errors.internal_error(f"conversion webhook for {kind} failed: it was not called")
        if definition.hub is not None:
            return definition.hub.convert(obj, api_version)
        obj = {**obj, "apiVersion": api_version}
        if prunes and not alike:
            obj = decode(wire_json.encode(obj))
            schema.compiled.prune(obj)
        return obj

    return convert


def storing_converter(definition: ResourceDefinition, source: VersionDefinition) -> Convert:
    """Return the conversion to the storage version, with its defaults.

    Kubernetes sets these when it reads the object from the store. Here the store has the object as it is read.
    """
    storage = definition.versions[definition.storage_version]
    convert = converter(definition, source, storage)
    schema = strategy_of(storage).schema

    def store(obj: Object) -> Object:
        converted = convert(obj)
        if definition.hub is None:
            schema.compiled.default(converted)
        return converted

    return store


def record_extractor(definition: ResourceDefinition) -> Extract:
    """Return the function that builds records of a custom resource. It converts rows up to
    `definition.rewritten_after`.
    """
    fields = _selectable(definition)
    plain = extractor(fields)
    storage = definition.versions[definition.storage_version]
    api_version = definition.storage_api_version
    schema = strategy_of(storage).schema
    limit = definition.rewritten_after
    known = {version.api_version_of(definition.group): version for version in definition.versions.values()}

    def extract(row: KeyValue) -> Record:
        if row.mod_revision > limit:
            return plain(row)
        obj: Object = decode(row.value)
        own = known.get(obj["apiVersion"])
        if definition.hub is not None and own is not None:
            try:
                obj = definition.hub.convert(obj, api_version)
            except errors.StatusError:
                # A row that cannot be converted now must not keep the others from being read.
                return plain(row)
        elif own is not None:
            strategy_of(own).schema.compiled.prune(obj)
            strategy_of(own).schema.compiled.default(obj)
        if definition.webhook is not None and obj["apiVersion"] != api_version:
            return plain(row if own is None else row._replace(value=encode(obj)))
        obj["apiVersion"] = api_version
        schema.compiled.prune(obj)
        if own is None or own is storage:
            schema.compiled.default(obj)
        return plain(row._replace(value=encode(obj)))

    return extract


def _selectable(definition: ResourceDefinition) -> Callable[[Object], dict[str, str]] | None:
    """Return the functions, by version, that compute the selectable fields of an object.

    The fields of a version are read from the object in that version. They are missing if the object cannot be converted
    at this point. With a webhook, this applies to all versions but the stored one; with rules, if a rule fails.
    """
    versions = [version for version in definition.versions.values() if version.selectable_fields]
    if not versions:
        return None
    storage = definition.versions[definition.storage_version]
    converters = {version.name: converter(definition, storage, version) for version in versions}

    def fields(obj: Object) -> dict[str, str]:
        found: dict[str, str] = {}
        for version in versions:
            own = obj.get("apiVersion") == version.api_version_of(definition.group)
            if not own and definition.webhook is not None:
                continue
            try:
                converted = obj if own else converters[version.name](obj)
            except errors.StatusError:
                continue
            values = strategy_of(version).selectable_fields(converted)
            found |= {field_of_version(version.name, name): value for name, value in values.items()}
            found[field_of_version(version.name)] = ""
        return found

    return fields

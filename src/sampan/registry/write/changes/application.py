"""`Application`: server-side apply. Source: apiserver pkg/endpoints/handlers/patch.go applyPatcher (1.36)."""

import re
from functools import partial
from typing import Any, ClassVar

from sampan.core import errors
from sampan.core.event_loop.offload import note_size, offloaded
from sampan.core.go_text import MAP, unmarshal_text
from sampan.core.gvk import canonical
from sampan.core.json.values import with_whole_numbers
from sampan.core.object import Object
from sampan.core.time import timestamp
from sampan.patch.copying import copy_json
from sampan.registry.endpoint import Endpoint
from sampan.registry.rest.store import ResourceStore
from sampan.registry.write.changes.body import Body, UndecodableBody, check_fits, decode_value, warning_texts
from sampan.registry.write.changes.options import WriteOptions
from sampan.registry.write.changes.recognition import unreadable
from sampan.registry.write.write import Change, Write
from sampan.schema.compile import DecodeError as SchemaError


class Application(Change):
    """The stored object, or a new one, with the applied fields."""

    __slots__ = ("_body", "_bytes", "_config", "_options")
    name: ClassVar[str] = "apply"

    def __init__(self, body: Body, options: WriteOptions) -> None:
        self._body, self._options = body, options
        self._bytes = b""
        self._config: Object = {}

    def creates(self, store: ResourceStore) -> bool:
        """Return True, because an apply may create an object of any kind."""
        return True

    def given(self) -> Object:
        """Return the applied configuration."""
        return self._config

    async def read(self, write: Write) -> None:
        """Read the configuration to apply."""
        self._bytes = await self._body.read()
        note_size(write.store.strategy.size_of_work(len(self._bytes)))

    def decode(self, write: Write) -> None:
        """Decode the configuration. Raises 400."""
        config, faults = _decode_apply(self._bytes, self._options)
        if self._body.audit is not None:
            self._body.audit(config, lambda: config)
        if config is None:
            raise errors.bad_request("invalid object type: /, Kind=")
        if not isinstance(config, dict):
            text = unmarshal_text(config, MAP)
            raise errors.bad_request(f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {text}")
        if faults and self._options.strict:
            raise errors.bad_request("error strict decoding YAML: " + errors.listed(faults))
        if faults:
            write.warnings.extend(warning_texts(faults))
        version = config.get("apiVersion")
        if isinstance(version, str) and version[:1] == "/":
            config["apiVersion"] = canonical(version)
        self._config = config

    async def make(self, write: Write) -> Object:
        """Merge the configuration into the stored object. Raises 409 on conflicts with other managers."""
        assert write.endpoint is not None
        merged = await write.endpoint.managing_fields(partial(self._merged, write, write.endpoint))
        return await offloaded(self._checked, write, write.endpoint, merged)

    def _merged(self, write: Write, endpoint: Endpoint) -> Object:
        options, live = self._options, write.old
        if live is not None and endpoint.version.conversion is not None:
            live = endpoint.from_hub(copy_json(live))
        subresource = write.ctx.subresource
        return endpoint.field_manager(subresource).apply(
            live,
            self._config,
            manager=options.field_manager,
            api_version=endpoint.api_version,
            subresource=subresource,
            force=bool(options.force),
            now=timestamp(write.clock),
            # A webhook may convert the same stored object in another way the next time.
            text=b"" if endpoint.definition.webhook is not None else self._bytes,
        )

    def _checked(self, write: Write, endpoint: Endpoint, merged: Object) -> Object:
        if write.old is None and merged.get("metadata", {}).get("uid"):
            raise errors.conflict(
                endpoint.definition.group_resource,
                write.name,
                f"uid mismatch: the provided object specified uid {merged['metadata']['uid']}, "
                "and no existing object was found",
            )
        _normalise_merged(merged, endpoint)
        check_fits(write, merged)
        return merged


def _decode_apply(body: bytes, options: WriteOptions) -> tuple[Any, list[str]]:
    """Decode a configuration, which is YAML. Raises 400.

    JSON is YAML, too, and is decoded faster, unless the two may differ: then the result is that of YAML.
    """
    duplicates = options.field_validation != "Ignore"
    # Most texts are plain: the function is only for the others.
    plain = b"\\" not in body and b"\x7f" not in body and body.isascii()
    if body[:1] == b"{" and (plain or not _differs_in_yaml(body)):
        try:
            value, faults = decode_value(body, "application/json", duplicates=duplicates)
            if not faults:
                return (with_whole_numbers(value) if _may_have_floats(body) else value), faults
        except UndecodableBody:
            pass  # The text may still be YAML.
    try:
        return decode_value(body, "application/yaml", duplicates=duplicates)
    except UndecodableBody as error:
        raise errors.bad_request(f"error decoding YAML: error converting YAML to JSON: {error.message}") from None


_escape_of_json = re.compile(rb"\\(?:/|u[dD][89a-fA-F])").search
"""Find escapes that YAML does not have: of a slash, and surrogates."""


_to_zeros = bytes.maketrans(b"123456789E", b"000000000e")
_decimals = re.compile(rb"\.[0-9]+\s*[,}\]eE]").search


def _may_have_floats(body: bytes) -> bool:
    """Return False if a JSON text surely has no floats, and no integers beyond 64 bits.

    Most texts have none. This takes a tenth of the time of a look at each value.
    """
    digits = body.translate(_to_zeros)
    return b"0e" in digits or b"0" * 19 in digits or (b"0.0" in digits and _decimals(body) is not None)


def _differs_in_yaml(body: bytes) -> bool:
    """Return True if a JSON text may be invalid as YAML, which excludes some characters and escapes."""
    if b"\\" in body and _escape_of_json(body):
        return True
    return b"\x7f" in body or not (body.isascii() or body.decode("utf-8", "replace").isprintable())


def _normalise_merged(merged: Object, endpoint: Endpoint) -> None:
    try:
        endpoint.dialect.read_applied(endpoint.compiled, merged)
    except SchemaError as error:
        raise unreadable(endpoint, str(error)) from None
    merged.setdefault("metadata", {})

"""TracingConfiguration: the collector of spans, and the sampling rate.

Source: apiserver pkg/server/options/tracing.go, component-base tracing/api/v1 (1.36).
"""

from typing import Final
from urllib.parse import urlsplit

import msgspec

from sampan.core.field import FieldError, Path, aggregate, invalid
from sampan.wire import yaml
from sampan.wire.json import DecodeError

_KIND: Final = "TracingConfiguration"
_VERSIONS: Final = tuple(f"apiserver.config.k8s.io/{version}" for version in ("v1", "v1beta1", "v1alpha1"))
_SCHEMES: Final = ("dns", "unix", "unix-abstract")
_MILLION: Final = 1_000_000


class TracingConfiguration(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Content of the file."""

    api_version: str
    kind: str
    endpoint: str = "localhost:4317"
    """Address of a collector that accepts OTLP over gRPC without TLS."""
    sampling_rate_per_million: int = 0
    """Sampling rate of requests without a parent span. Other requests follow their parent."""


def parse_tracing_configuration(text: bytes) -> TracingConfiguration:
    """Decode YAML or JSON. Raises `ValueError`."""
    try:
        value, faults = yaml.decode_file_strict(text)
    except DecodeError as error:
        raise ValueError(str(error)) from None
    if faults:
        raise ValueError(f"strict decoding error: {', '.join(faults)}")
    if not isinstance(value, dict) or value.get("kind") != _KIND or value.get("apiVersion") not in _VERSIONS:
        raise ValueError(f"the file contains no {_KIND} of {_VERSIONS[0]}")
    try:
        configuration = msgspec.convert(
            {name: part for name, part in value.items() if part is not None}, TracingConfiguration
        )
    except msgspec.ValidationError as error:
        raise ValueError(f"strict decoding error: {error}") from None
    found = _faults(configuration)
    if found:
        raise ValueError(aggregate(found))
    return configuration


def _faults(configuration: TracingConfiguration) -> list[FieldError]:
    faults = []
    rate, path = configuration.sampling_rate_per_million, Path("samplingRatePerMillion")
    if rate < 0:
        faults.append(invalid(path, rate, "sampling rate must be positive"))
    if rate > _MILLION:
        faults.append(invalid(path, rate, "sampling rate per million must be less than or equal to one million"))
    endpoint = configuration.endpoint
    scheme = urlsplit(endpoint if "//" in endpoint else f"dns://{endpoint}").scheme
    if scheme not in _SCHEMES:
        text = f"unsupported scheme: {scheme}.  Options are none, dns, unix, or unix-abstract"
        faults.append(invalid(Path("endpoint"), endpoint, text))
    return faults

"""Validation of tracing configurations."""

import pytest

from sampan.server.tracing.configuration import parse_tracing_configuration

HEAD = "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n"


def test_defaults_are_the_local_collector_and_no_sampling() -> None:
    configuration = parse_tracing_configuration(HEAD.encode())
    assert (configuration.endpoint, configuration.sampling_rate_per_million) == ("localhost:4317", 0)


@pytest.mark.parametrize("version", ["v1", "v1beta1", "v1alpha1"])
def test_all_versions_have_the_same_fields(version: str) -> None:
    text = f"{HEAD.replace('v1', version)}endpoint: dns://c:1\nsamplingRatePerMillion: 500\n"
    assert parse_tracing_configuration(text.encode()).sampling_rate_per_million == 500


WRONG = {
    "negative": (
        "samplingRatePerMillion: -1",
        "samplingRatePerMillion: Invalid value: -1: sampling rate must be positive",
    ),
    "too many": (
        "samplingRatePerMillion: 1000001",
        "samplingRatePerMillion: Invalid value: 1000001: "
        "sampling rate per million must be less than or equal to one million",
    ),
    "scheme": (
        "endpoint: http://c:1",
        'endpoint: Invalid value: "http://c:1": unsupported scheme: http.  '
        "Options are none, dns, unix, or unix-abstract",
    ),
    "unknown field": ("rate: 3", "strict decoding error: Object contains unknown field `rate`"),
    "twice": ("endpoint: a\nendpoint: b", "strict decoding error: "),
}


@pytest.mark.parametrize(("more", "text"), WRONG.values(), ids=WRONG)
def test_invalid_configurations_are_refused(more: str, text: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse_tracing_configuration(f"{HEAD}{more}\n".encode())
    assert str(caught.value).startswith(text)


def test_other_kinds_are_refused() -> None:
    with pytest.raises(ValueError, match="the file contains no TracingConfiguration"):
        parse_tracing_configuration(b"kind: Policy")

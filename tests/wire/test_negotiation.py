"""Content negotiation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampan.core.errors import StatusError
from sampan.wire.negotiation import (
    ACCEPT_CHARS_MAX,
    CUSTOM_OFFERED,
    MediaType,
    body_format,
    negotiate,
    negotiate_discovery,
    parse_accept,
    wants_pretty,
)

KUBECTL_GET = (
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
)
KUBECTL_DISCOVERY = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
)
JSON = MediaType("json")
YAML = MediaType("yaml", media_type="application/yaml")
PROTOBUF = MediaType("protobuf", media_type="application/vnd.kubernetes.protobuf")
TABLE = MediaType("json", transform="Table", group="meta.k8s.io", version="v1")
ALL = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        ("", JSON),
        ("*/*", JSON),
        ("*", JSON),
        ("application/*", JSON),
        ("application/json", JSON),
        ("application/json, */*", JSON),
        ("application/yaml", YAML),
        ("application/vnd.kubernetes.protobuf,application/json", PROTOBUF),
        ("application/vnd.kubernetes.protobuf;q=0.5,application/json", JSON),
        ("application/json;q=0.5,application/vnd.kubernetes.protobuf;q=0.9", PROTOBUF),
        ("application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json", JSON),
        ("text/html, application/yaml", YAML),
        ("application/json;q=0.1,application/yaml;q=0.9", YAML),
        ("application/json;q=0.9,application/yaml;q=0.1", JSON),
        ("*/*;q=1,application/yaml;q=0.1", YAML),
        ("application/yaml;q=0,text/html", YAML),
        ("application/json;pretty=1", MediaType("json", pretty=True)),
        ("application/json;stream=watch", MediaType("json", stream="watch")),
        ("application/json;charset=utf-8", JSON),
        (KUBECTL_GET, TABLE),
        (KUBECTL_GET + "," + "x" * 600, TABLE),
        (
            "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
            MediaType("json", transform="Table", group="meta.k8s.io", version="v1beta1"),
        ),
        (
            "application/yaml;as=Table;v=v1;g=meta.k8s.io",
            MediaType("yaml", "Table", "meta.k8s.io", "v1", media_type="application/yaml"),
        ),
        (PARTIAL, MediaType("json", "PartialObjectMetadata", "meta.k8s.io", "v1")),
        (
            "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
            "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
            MediaType("protobuf", "PartialObjectMetadataList", "meta.k8s.io", "v1", media_type=PROTOBUF.media_type),
        ),
        ("application/json;as=Table;v=v2;g=meta.k8s.io,application/json", JSON),
        ("application/json;as=Foo;v=v1;g=meta.k8s.io,application/json", JSON),
        ("application/json;v=v1,application/json", JSON),
    ],
)
def test_the_best_representation_is_chosen(accept: str, media: MediaType) -> None:
    assert negotiate(accept) == media
    assert negotiate(accept) == media


def test_only_the_first_characters_of_an_accept_header_are_read() -> None:
    assert len(parse_accept("a/b," * 250_000)) == ACCEPT_CHARS_MAX // len("a/b,")
    assert parse_accept("a/b" + ";c=d" * 250_000)[0].parameters[:1] == (("c", "d"),)
    assert len(parse_accept("a/b" + ";c=d" * 250_000)[0].parameters) <= ACCEPT_CHARS_MAX // len(";c=d")


def test_transforms_are_skipped_if_not_served() -> None:
    assert negotiate(KUBECTL_GET, allow_transforms=False) == JSON
    with pytest.raises(StatusError):
        negotiate(PARTIAL, allow_transforms=False)


@pytest.mark.parametrize(
    "accept",
    [
        "text/html",
        "application/json;as=Foo",
        "application/json;stream=other",
        "application/json;sv=v9",
        "*/json",
        "json",
        ",",
        "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io",
    ],
)
def test_no_acceptable_type_gives_406_that_lists_the_supported_types(accept: str) -> None:
    with pytest.raises(StatusError) as caught:
        negotiate(accept)
    assert (caught.value.code, caught.value.reason) == (406, "NotAcceptable")
    assert caught.value.message == "only the following media types are accepted: " + ALL


V2 = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
V2BETA1 = "g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"


@pytest.mark.parametrize(
    ("accept", "format_", "aggregated"),
    [
        ("", "json", False),
        ("*/*", "json", False),
        ("application/json", "json", False),
        ("application/yaml", "yaml", False),
        ("application/vnd.kubernetes.protobuf,application/json", "protobuf", False),
        ("application/vnd.kubernetes.protobuf;q=0.5,application/json", "json", False),
        (KUBECTL_DISCOVERY, "json", True),
        (f"application/json;{V2};profile=nopeer", "json", True),
        (f"application/vnd.kubernetes.protobuf;{V2},application/json;{V2},application/json", "protobuf", True),
        (f"application/yaml;{V2}", "yaml", True),
        (f"application/json;{V2};q=0.5,application/json", "json", True),
        (f"application/json;{V2BETA1},application/json", "json", False),
        ("application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList,application/yaml", "yaml", False),
    ],
)
def test_discovery_is_aggregated_when_requested(accept: str, format_: str, aggregated: bool) -> None:
    media = negotiate_discovery(accept)
    expected = ("apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList") if aggregated else ("", "", "")
    assert (media.format, (media.group, media.version, media.transform)) == (format_, expected)


@pytest.mark.parametrize("accept", [f"application/json;{V2BETA1}", "text/html", "application/json;as=Table"])
def test_discovery_in_other_forms_is_not_acceptable(accept: str) -> None:
    with pytest.raises(StatusError) as caught:
        negotiate_discovery(accept)
    assert (caught.value.code, caught.value.message) == (
        406,
        f"only the following media types are accepted: {ALL}",
    )


@pytest.mark.parametrize(
    ("accept", "format_"),
    [
        ("application/vnd.kubernetes.protobuf,application/json", "json"),
        ("application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", "protobuf"),
        ("application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1", "protobuf"),
    ],
)
def test_custom_resources_have_only_their_metadata_in_protobuf(accept: str, format_: str) -> None:
    assert negotiate(accept, untransformed=CUSTOM_OFFERED).format == format_


def test_custom_resources_in_protobuf_only_are_not_acceptable() -> None:
    with pytest.raises(StatusError) as error:
        negotiate("application/vnd.kubernetes.protobuf", untransformed=CUSTOM_OFFERED)
    assert error.value.code == 406


@pytest.mark.parametrize(
    ("content_type", "format_"),
    [
        ("", "json"),
        ("application/json", "json"),
        ("application/json; charset=utf-8", "json"),
        ("Application/YAML", "yaml"),
        ("application/vnd.kubernetes.protobuf", "protobuf"),
    ],
)
def test_content_type_selects_the_codec(content_type: str, format_: str) -> None:
    assert body_format(content_type) == format_


@pytest.mark.parametrize("content_type", ["text/plain", "text/yaml", "*/*", "application/vnd.kubernetes.cbor", ";"])
def test_other_content_types_give_415(content_type: str) -> None:
    with pytest.raises(StatusError) as caught:
        body_format(content_type)
    assert caught.value.code == 415
    assert caught.value.message == (
        f"the body of the request was in an unknown format - accepted media types include: {ALL}"
    )


@pytest.mark.parametrize(
    ("value", "agent", "pretty"),
    [
        (None, "kubectl/v1.36.0", False),
        (None, "curl/8", True),
        (None, "Mozilla/5.0 (X11)", True),
        ("", "curl/8", True),
        ("true", "kubectl", True),
        ("1", "kubectl", True),
        ("false", "curl/8", False),
        ("yes", "curl/8", False),
    ],
)
def test_responses_for_people_are_indented(value: str | None, agent: str, pretty: bool) -> None:
    assert wants_pretty(value, agent) is pretty


def test_clauses_with_many_alternatives_are_sorted_by_quality() -> None:
    header = ",".join(f"a/b{n};q=0.{n:02}" for n in range(1, 30))
    assert [clause.subtype for clause in parse_accept(header)] == [f"b{n}" for n in range(29, 0, -1)]


@given(st.text(alphabet="application/json*;q=0.5,asTablev1gmeta.k8s.io ", max_size=80))
def test_any_accept_header_is_negotiated_or_gives_406(accept: str) -> None:
    try:
        media = negotiate(accept)
    except StatusError:
        return
    assert media.format in ("json", "yaml")

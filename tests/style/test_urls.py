"""URLs are split by `core.url.split_url`: `urlsplit` drops line breaks and tabs of a URL without an error."""

from tests.style.sources import ROOT, SOURCES, text_of

WITH_URLSPLIT = {
    "core/addresses/url.py",  # after its own checks
    # URLs that are checked when they are configured, or that this process has made:
    "app/nodes/join.py",
    "cli/tokens/command.py",
    "controllers/certificate_signing/serving.py",
    "node/cri/streams/streaming.py",
    "node/environment/services.py",
    "node/probes/http.py",
    "registry/webhook/target.py",
    "server/authentication/jwt/https.py",
    "server/authentication/service_account/discovery.py",
    "server/tracing/configuration.py",
    "storage/encryption/configuration.py",
    "storage/encryption/kms/service.py",
    "storage/etcd/connection/diagnosis.py",
    "storage/etcd/connection/endpoint.py",
    "client/transports/redirects.py",
    # Targets of requests and links in documents, which contain no line breaks or are not requested:
    "http/server/exchange.py",
    "schema/validation/formats.py",
    "server/proxy/rewrite.py",
}
"""Modules with `urlsplit`. The list may only shrink."""


def test_urls_are_split_by_the_checking_function() -> None:
    package = ROOT / "src" / "sampan"
    found = {
        str(path.relative_to(package)) for path in SOURCES if "urlsplit(" in text_of(path) and package in path.parents
    }
    assert found == WITH_URLSPLIT

"""registries.yaml, as k3s reads it."""

import pytest

from sampan.node.cri.registries.configuration import ANY, MirrorEndpoint, RewriteRule, read_registries

FILE = b"""
mirrors:
  docker.io:
    endpoint:
      - "https://mirror.example.com:5000"
      - http://second:5001/v2/hub/
      - bare.example.com
    rewrite:
      "^rancher/(.*)": "mirrorproject/rancher-images/$1"
      "^(lib)rary/(.*)": "${1}s/$2"
  "*":
    endpoint: ["https://all.example.com"]
configs:
  "mirror.example.com:5000":
    auth:
      username: reader
      password: secret
    tls:
      ca_file: /etc/ssl/mirror.crt
      insecure_skip_verify: false
"""


def test_mirrors_have_their_endpoints_in_order() -> None:
    registries = read_registries(FILE)
    assert registries.mirror("docker.io").endpoints == (
        MirrorEndpoint("https", "mirror.example.com:5000"),
        MirrorEndpoint("http", "second:5001", "/v2/hub"),
        MirrorEndpoint("https", "bare.example.com"),
    )
    assert registries.mirror("quay.io").endpoints == (MirrorEndpoint("https", "all.example.com"),)


@pytest.mark.parametrize(
    ("repository", "expected"),
    [
        ("rancher/pause", "mirrorproject/rancher-images/pause"),
        ("library/busybox", "libs/busybox"),
        ("team/app", None),
    ],
)
def test_names_are_rewritten_by_the_first_rule_that_fits(repository: str, expected: str | None) -> None:
    assert read_registries(FILE).mirror("docker.io").rewritten(repository) == expected


@pytest.mark.parametrize(
    ("pattern", "replacement", "expected"),
    [
        ("b", "$$", "a$/$"),
        ("(?P<part>b)", "${part}c", "abc/bc"),
        ("(x)|(b)", "[$1$2]", "a[b]/[b]"),
        ("^", r"\\1/", r"\\1/ab/b"),
    ],
)
def test_replacement_has_the_syntax_of_go(pattern: str, replacement: str, expected: str) -> None:
    assert RewriteRule(pattern, replacement).applied("ab/b") == expected


def test_expression_that_backtracks_forever_elsewhere_ends() -> None:
    assert RewriteRule("^(a+)+(b+)+$", "c").applied("a" * 5000 + "!") is None


def test_hosts_have_their_settings() -> None:
    registries = read_registries(FILE)
    found = registries.config("mirror.example.com:5000")
    assert found.auth is not None
    assert found.tls is not None
    assert (found.auth.username, found.auth.password, found.tls.ca_file) == ("reader", "secret", "/etc/ssl/mirror.crt")
    assert registries.config("quay.io").auth is None
    assert registries.has_secrets


def test_an_entry_for_all_hosts_has_settings_too() -> None:
    registries = read_registries(b'configs: {"*": {tls: {insecure_skip_verify: true}}}')
    found = registries.config("any.example.com").tls
    assert found is not None
    assert found.insecure_skip_verify
    assert ANY in registries.configs


@pytest.mark.parametrize("text", [b"", b"{}", b"mirrors:\n", b"mirrors: {docker.io: }", b"configs: {a: {auth: }}"])
def test_a_file_without_content_has_no_registries(text: bytes) -> None:
    assert not read_registries(text).has_secrets


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("configs: {a: {auth: {password: hidden", "not YAML"),
        ("password: *hidden", "not YAML"),
        ("configs: {a: {auth: {password: 1234}}}", "quotes"),
        ("configs: {a: {auth: hidden}}", "wrong type"),
        ("hidden", "wrong type at the top"),
        ("mirrors: {'../hidden': {}}", "mirrors: '../hidden' is no host"),
        ("mirrors: {'a/b': {}}", "is no host"),
        ("mirrors: {'..': {}}", "is no host"),
        ("mirrors: {a: {endpoint: ['ftp://b']}}", "mirrors.a.endpoint"),
        ("mirrors: {a: {endpoint: ['https://user:hidden@b']}}", "mirrors.a.endpoint"),
        ("mirrors: {a: {endpoint: ['https://b/\"x']}}", "mirrors.a.endpoint"),
        ("mirrors: {a: {rewrite: {'(': b}}}", "mirrors.a.rewrite"),
        ("mirrors: {a: {rewrite: {'b': '$1'}}}", "mirrors.a.rewrite"),
        ("mirrors: {a: {rewrite: {'(b)': '${name}'}}}", "the expression has no group name"),
        ("mirrors: {a: {rewrite: {'(?=b)': c}}}", "mirrors.a.rewrite"),
        ("configs: {a: {tls: {ca_file: relative.crt}}}", "configs.a.tls.ca_file: must be an absolute path"),
    ],
)
def test_a_fault_names_its_place(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_registries(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "configs: {a: {auth: {password: hidden",
        "configs: {a: {auth: {password: *hidden}}}",
        "configs: {a: {auth: hidden}}",
        "configs: {a: {auth: {password: [hidden]}}}",
        "mirrors: {a: {endpoint: ['https://user:hidden@b']}}",
        "configs:\n\thidden",
    ],
)
def test_no_error_and_no_text_of_the_settings_has_a_password(text: str) -> None:
    with pytest.raises(ValueError, match=r"[a-z]") as caught:
        read_registries(text.encode())
    assert "hidden" not in str(caught.value)
    assert "secret" not in repr(read_registries(FILE))

"""hosts.toml files of containerd."""

import tomllib
from pathlib import Path

from sampan.node.cri.registries.configuration import Registries, read_registries
from sampan.node.cri.registries.hosts import MARK, hosts_files
from sampan.node.cri.registries.registry_file import write_hosts

FILE = b"""
mirrors:
  docker.io:
    endpoint: ["https://mirror:5000", "http://plain:5001/v2/hub"]
  "*":
    endpoint: ["https://mirror:5000"]
  quay.io:
    endpoint: ["http://plain:5001"]
    rewrite: {"(.*)": "quay/$1"}
configs:
  mirror:5000:
    auth: {username: reader, password: secret}
    tls: {ca_file: /ca.crt, cert_file: /c.crt, key_file: /c.key}
  own.example.com:
    tls: {insecure_skip_verify: true}
  secrets.example.com:
    auth: {username: reader, password: secret}
"""
MIRROR_TLS = {"ca": "/ca.crt", "client": [["/c.crt", "/c.key"]]}
PULLS = {"capabilities": ["pull", "resolve"]}


def test_files_have_mirrors_and_tls_settings() -> None:
    found = {host: tomllib.loads(content) for host, content in hosts_files(read_registries(FILE)).items()}
    assert found["docker.io"] == {
        "server": "https://registry-1.docker.io",
        "host": {
            "https://mirror:5000": {**PULLS, **MIRROR_TLS},
            "http://plain:5001/v2/hub": {**PULLS, "override_path": True},
        },
    }
    assert found["_default"] == {"host": {"https://mirror:5000": {**PULLS, **MIRROR_TLS}}}
    assert found["own.example.com"] == {
        "server": "https://own.example.com",
        "skip_verify": True,
        "host": {"https://own.example.com": {**PULLS, "skip_verify": True}},
    }
    assert found["mirror:5000"] == {
        "server": "https://mirror:5000",
        **MIRROR_TLS,
        "host": {"https://mirror:5000": {**PULLS, **MIRROR_TLS}},
    }


def test_docker_hub_has_the_settings_of_its_usual_name() -> None:
    content = hosts_files(read_registries(b"configs: {docker.io: {tls: {ca_file: /ca.crt}}}"))["docker.io"]
    assert tomllib.loads(content)["host"] == {"https://registry-1.docker.io": {**PULLS, "ca": "/ca.crt"}}


def test_a_mirror_with_rewritten_names_is_a_registry_too() -> None:
    found = hosts_files(read_registries(FILE))
    assert tomllib.loads(found["plain:5001"]) == {"server": "http://plain:5001"}


def test_files_have_no_passwords_and_are_not_written_for_them() -> None:
    found = hosts_files(read_registries(FILE))
    assert "secret" not in "".join(found.values())
    assert "secrets.example.com" not in found


def test_files_follow_the_registries(tmp_path: Path) -> None:
    assert write_hosts(tmp_path / "certs.d", hosts_files(read_registries(FILE))) == []
    path = tmp_path / "certs.d" / "docker.io" / "hosts.toml"
    expected = path.read_text()
    path.write_text(f"{MARK}\nchanged = true\n")
    write_hosts(tmp_path / "certs.d", hosts_files(read_registries(FILE)))
    assert path.read_text() == expected
    assert path.stat().st_mode & 0o777 == 0o644
    write_hosts(tmp_path / "certs.d", hosts_files(Registries()))
    assert list((tmp_path / "certs.d").iterdir()) == []


def test_files_of_the_user_stay(tmp_path: Path) -> None:
    (tmp_path / "docker.io").mkdir()
    (tmp_path / "ghcr.io").mkdir()
    for host in ("docker.io", "ghcr.io"):
        (tmp_path / host / "hosts.toml").write_text("server = 'https://mine'\n")
    assert write_hosts(tmp_path, hosts_files(read_registries(FILE))) == ["docker.io"]
    write_hosts(tmp_path, {})
    assert (tmp_path / "docker.io" / "hosts.toml").read_text() == "server = 'https://mine'\n"
    assert (tmp_path / "ghcr.io" / "hosts.toml").exists()

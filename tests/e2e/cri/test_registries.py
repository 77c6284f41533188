"""Registries of a node: mirrors, rewritten names, TLS and credentials, with Debian's docker-registry."""

import subprocess
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.cri.image import APP
from tests.e2e.cri.lone_node import Server, start_node
from tests.e2e.cri.test_pods import manifest
from tests.machines import missing, wait_for
from tests.server.tls_files import make_files

pytestmark = pytest.mark.e2e
ADDRESS = "172.30.0.1:5000"
USER, PASSWORD = "reader", "hidden-word"
HTPASSWD = "reader:$2y$05$1m3leRbDfTL4fjkVBdI2Uu7mx8mX9zW/qJxjY36X6YF/4ub695ATe"
"""Line of the user, with the password as bcrypt."""
REGISTRY = """
version: 0.1
storage: {{filesystem: {{rootdirectory: {root}/registry}}}}
http:
  addr: 0.0.0.0:5000
  secret: tests
  tls: {{certificate: {certificate}, key: {key}}}
auth: {{htpasswd: {{realm: tests, path: {root}/htpasswd}}}}
"""
REGISTRIES = """
mirrors:
  hub.test:
    endpoint: ["https://{address}"]
  docker.io:
    endpoint: ["https://{address}"]
    rewrite: {{"^library/(.*)": "hub/$1"}}
configs:
  "{address}":
    auth: {{username: reader, password: {password}}}
    tls: {{ca_file: {authority}}}
"""


def succeeds(command: list[str]) -> bool:
    """Return True if a command succeeds."""
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def until_ready(server: Server, name: str) -> None:
    """Wait until a Pod is ready."""

    def is_ready() -> bool:
        return any(each["ready"] for each in server.status(name).get("containerStatuses", ()))

    wait_for(is_ready, f"Pod {name}", 300, state=lambda: server.kubectl("describe", "pod", name))


def start_registry(server: Server, folder: Path) -> Path:
    """Start a registry with TLS and a password, push the image to it, and return the file of its authority."""
    files = make_files(folder)
    serving = files.serving("registry", "172.30.0.1")
    (folder / "htpasswd").write_text(f"{HTPASSWD}\n")
    text = REGISTRY.format(root=folder, certificate=serving.certificate, key=serving.key)
    (folder / "registry.yml").write_text(text)
    server.machine.start("docker-registry", "serve", str(folder / "registry.yml"), log="registry.log")
    for name in ("team/app:1", "hub/thing:1"):
        push = ["ctr", "-n", "k8s.io", "images", "push", "--user", f"{USER}:{PASSWORD}", "--skip-verify"]
        command = [*server.machine.enter, *push, f"{ADDRESS}/{name}", APP]
        wait_for(partial(succeeds, command), f"push of {name}")
    return files.ca_file


def write_registries(path: Path, authority: Path, password: str) -> None:
    """Write the file of the node."""
    path.write_text(REGISTRIES.format(address=ADDRESS, authority=authority, password=password))
    path.chmod(0o600)


def test_images_come_from_mirrors_once_the_password_is_right(server: Server, tmp_path: Path) -> None:
    lacking = missing({"docker-registry": "docker-registry"})
    if lacking:
        pytest.skip(f"docker-registry: {lacking}")
    registries = tmp_path / "registries.yaml"
    authority = start_registry(server, tmp_path)
    write_registries(registries, authority, "wrong-word")
    start_node(server, "--cri-registries", str(registries))
    for name, image in (("mirrored", "hub.test/team/app:1"), ("rewritten", "thing:1")):
        server.kubectl.apply(manifest(name, "sleep 1000", image=image))

    def reasons() -> set[str]:
        found = [server.status(name).get("containerStatuses", [{}])[0] for name in ("mirrored", "rewritten")]
        return {each.get("state", {}).get("waiting", {}).get("reason", "") for each in found}

    wait_for(lambda: reasons() <= {"ErrImagePull", "ImagePullBackOff"}, "the refusal of the password", 120)
    hosts = server.containerd.registries / "hub.test" / "hosts.toml"
    assert f"https://{ADDRESS}" in hosts.read_text()
    write_registries(registries, authority, PASSWORD)
    until_ready(server, "mirrored")
    until_ready(server, "rewritten")
    assert f"{ADDRESS}/hub/thing" in server.status("rewritten")["containerStatuses"][0]["imageID"]
    again = manifest("again", "sleep 1000", image="thing:1", imagePullPolicy="Never")
    server.kubectl.apply(again)
    until_ready(server, "again")
    written = [path.read_text(errors="replace") for path in server.machine.root.glob("*.log")]
    written += [path.read_text() for path in server.containerd.registries.glob("*/hosts.toml")]
    assert not [text for text in written if PASSWORD in text or "wrong-word" in text]
    registries.unlink()
    wait_for(lambda: not list(server.containerd.registries.iterdir()), "the removal of containerd's files")

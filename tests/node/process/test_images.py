"""Names of images, and their configuration."""

import json
import os
from pathlib import Path

import pytest

from sampan.node.process import Images, Isolation
from sampan.node.runtime import ImageError
from sampan.node.sessions import Mount
from tests.node.process.running import MAIN, has_namespaces, host_programs, node, pod, sh
from tests.node.process.test_containers import isolation

__all__ = ["isolation"]


@pytest.fixture
def stores(tmp_path: Path) -> Path:
    for name in ("given", "images/team/app/1.0", "images/tool"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("named", "given"),
        ("named:1", "given"),
        ("registry.example.com:5000/named@sha256:" + "0" * 64, "given"),
        ("team/app:1.0", "images/team/app/1.0"),
        ("team/app:2.0", "images/team/app"),
        ("tool", "images/tool"),
        ("tool:latest", "images/tool"),
        ("unknown", "host"),
        ("machine:1", "host"),
    ],
)
def test_image_maps_to_a_directory_or_to_the_host(stores: Path, name: str, place: str) -> None:
    given = {
        "named": str(stores / "given"),
        "registry.example.com:5000/named": str(stores / "given"),
        "machine:1": "host",
    }
    image = Images(given, directory=stores / "images").find(name)
    assert image.id == (place if place == "host" else str(stores / place))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("unknown:1", "ErrImagePull"),
        ("No Name", "InvalidImageName"),
        ("a/../b", "InvalidImageName"),
        ("/etc", "InvalidImageName"),
        ("", "InvalidImageName"),
        ("gone", "ErrImagePull"),
    ],
)
def test_images_that_are_not_available(name: str, reason: str) -> None:
    with pytest.raises(ImageError) as caught:
        Images({"gone": "/no/such/directory"}, default="refuse").find(name)
    assert caught.value.reason == reason


def test_configuration_is_read_from_the_directory(tmp_path: Path) -> None:
    config = {"Entrypoint": ["/run"], "cmd": ["a"], "Env": ["A=1", "B=x=y"], "workingDir": "/srv", "User": "7"}
    (tmp_path / "image.json").write_text(json.dumps(config))
    image = Images({"app": str(tmp_path)}).find("app")
    assert (image.entrypoint, image.cmd, image.env) == (("/run",), ("a",), {"A": "1", "B": "x=y"})
    assert (image.working_dir, image.user) == ("/srv", "7")


def test_malformed_configuration_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "image.json").write_text('{"cmd": "not a list"}')
    with pytest.raises(ImageError, match="cmd must be a list of strings"):
        Images({"app": str(tmp_path)}).find("app")


async def test_container_has_the_programs_and_files_of_its_image(tmp_path: Path, isolation: Isolation) -> None:
    image = tmp_path / "image"
    for name in ("bin", "usr", "lib", "lib64", "srv"):
        (image / name).mkdir(parents=True)
    (image / "srv" / "greeting").write_text("hello\n")
    script = image / "bin" / "greet"
    script.write_text("#!/usr/bin/sh\ncat greeting; echo $WHO $1\n")
    script.chmod(0o755)
    (image / "bin" / "sh").symlink_to("/usr/bin/sh")
    config = {"entrypoint": ["greet"], "cmd": ["cmd"], "env": {"WHO": "image"}, "workingDir": "/srv"}
    (image / "image.json").write_text(json.dumps(config))
    mounts = [] if isolation == "none" else host_programs()
    async with node(tmp_path / "node", isolation, {MAIN.image: str(image)}) as found:
        assert await found.run(pod(), mounts=mounts) == (0, b"hello\nimage cmd\n")
        assert await found.run(pod("b"), mounts=mounts, args=["arg"]) == (0, b"hello\nimage arg\n")
        assert await found.run(pod("c"), *sh("greet x"), mounts=mounts, env={"WHO": "me"}) == (0, b"hello\nme x\n")


async def test_writes_to_the_root_do_not_change_the_image(tmp_path: Path) -> None:
    (tmp_path / "image" / "srv").mkdir(parents=True)
    if not await has_namespaces(tmp_path / "trial"):
        pytest.skip("this machine does not permit mount namespaces")
    async with node(tmp_path / "node", "namespaces", {MAIN.image: str(tmp_path / "image")}) as found:
        script = ("/usr/bin/sh", "-c", "echo > /srv/new; echo > /new; ls / /srv")
        code, log = await found.run(pod(), *script, mounts=host_programs())
    assert (code, log.count(b"new")) == (0, 2)
    assert os.listdir(tmp_path / "image" / "srv") == []


async def test_files_at_the_root_of_an_image_can_be_moved_changed_and_removed(tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.mkdir()
    for name in ("index.html", "changed", "removed"):
        (image / name).write_text(f"{name}\n")
    (image / "index.html").chmod(0o640)
    if not await has_namespaces(tmp_path / "trial"):
        pytest.skip("this machine does not permit mount namespaces")
    async with node(tmp_path / "node", "namespaces", {MAIN.image: str(image)}) as found:
        moved = "mv /index.html /moved && mv /moved /index.html && stat -c %a /index.html"
        script = f"set -e; {moved}; echo more >> /changed; rm /removed; cat /index.html /changed; ls /"
        code, log = await found.run(pod(), "/usr/bin/sh", "-c", script, mounts=host_programs())
    assert (code, log.splitlines()[:4]) == (0, [b"640", b"index.html", b"changed", b"more"])
    assert b"removed" not in log
    assert {path.name: path.read_text() for path in image.iterdir()} == {
        "index.html": "index.html\n", "changed": "changed\n", "removed": "removed\n",
    }  # fmt: skip


async def test_read_only_root_cannot_be_written(tmp_path: Path) -> None:
    if not await has_namespaces(tmp_path / "trial"):
        pytest.skip("this machine does not permit mount namespaces")
    async with node(tmp_path / "node", "namespaces") as found:
        script = sh("touch /new /etc/new; touch /volume/new && echo volume")
        mount = Mount("v", str(tmp_path), "/volume")
        _, log = await found.run(pod(), *script, mounts=[mount], read_only_root=True)
    assert sorted(log.splitlines()) == [
        b"touch: cannot touch '/etc/new': Read-only file system",
        b"touch: cannot touch '/new': Read-only file system",
        b"volume",
    ]

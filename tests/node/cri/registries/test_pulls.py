"""Names and credentials of pulls."""

from typing import Any

import grpc
import pytest

from sampan.node.cri.errors import cri_error
from sampan.node.cri.messages import message
from sampan.node.cri.registries.configuration import Registries, read_registries
from sampan.node.cri.registries.images import CriImages
from sampan.node.cri.registries.pulls import own, rewritten
from sampan.node.runtime import ImageError
from sampan.node.views.pod import Pod

FILE = b"""
mirrors:
  docker.io:
    endpoint: ["https://mirror:5000", "http://plain:5001/v2/all"]
    rewrite: {"^library/(.*)": "hub/$1"}
configs:
  mirror:5000:
    auth: {username: m, password: secret}
  docker.io:
    auth: {auth: YTpi}
  ghcr.io:
    auth: {identity_token: token}
"""
REGISTRIES = read_registries(FILE)


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("busybox", ["mirror:5000/hub/busybox:latest", "plain:5001/all/hub/busybox:latest"]),
        ("docker.io/library/busybox:1.36", ["mirror:5000/hub/busybox:1.36", "plain:5001/all/hub/busybox:1.36"]),
        ("busybox@sha256:12", ["mirror:5000/hub/busybox@sha256:12", "plain:5001/all/hub/busybox@sha256:12"]),
        ("busybox:1@sha256:12", ["mirror:5000/hub/busybox:1@sha256:12", "plain:5001/all/hub/busybox:1@sha256:12"]),
        ("team/app:1", []),
        ("ghcr.io/library/app:1", []),
        ("localhost:5000/library/app:1", []),
    ],
)
def test_images_have_their_names_at_mirrors(image: str, expected: list[str]) -> None:
    assert [each.reference for each in rewritten(REGISTRIES, image)] == expected


def auths(image: str, runtime: str = "containerd") -> list[tuple[Any, ...]]:
    """Return the credentials with which an image is pulled by its own name."""
    found = [each.auth for each in own(REGISTRIES, image, runtime=runtime) if each.auth is not None]
    return [(each.username, each.auth, each.identity_token, each.server_address) for each in found]


def test_credentials_are_those_of_mirrors_and_then_of_the_registry() -> None:
    assert auths("busybox") == [
        ("m", "", "", "https://mirror:5000"),
        ("", "YTpi", "", "https://registry-1.docker.io"),
    ]
    assert auths("ghcr.io/team/app") == [("", "", "token", "https://ghcr.io")]
    assert auths("quay.io/team/app") == []


def test_credentials_of_a_mirror_are_for_this_mirror_only() -> None:
    first, second = rewritten(REGISTRIES, "busybox")
    assert first.auth is not None
    assert first.auth.server_address == "https://mirror:5000"
    assert second.auth is None


def test_a_runtime_that_ignores_the_address_gets_no_credentials_of_a_mirror() -> None:
    assert auths("busybox", "cri-o") == [("", "YTpi", "", "https://registry-1.docker.io")]


@pytest.mark.parametrize(("runtime", "expected"), [("containerd", ["m"]), ("cri-o", [])])
async def test_credentials_are_tried_by_image_name_with_containerd_only(runtime: str, expected: list[str]) -> None:
    users: list[str] = []

    class Runtime:
        async def version(self) -> Any:
            return message("VersionResponse")(runtime_name=runtime)

        async def pull_image(self, reference: str, *, auth: Any) -> str:
            if reference.startswith("docker.io") and auth is not None and auth.username:
                users.append(auth.username)
            raise cri_error("PullImage", grpc.StatusCode.UNKNOWN, "refused")

    class Credentials:
        async def of(self, pod: Pod, image: str) -> list[Any]:
            return []

    async def registries() -> Registries:
        return REGISTRIES

    client: Any = Runtime()
    images = CriImages(client, Credentials(), registries)
    with pytest.raises(ImageError):
        await images.pull_image(Pod(), "docker.io/team/app")
    assert users == expected

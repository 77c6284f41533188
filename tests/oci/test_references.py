"""Names of images. Source: distribution reference/normalize.go (v3)."""

import pytest

from sampan.oci.errors import OciError
from sampan.oci.reference import Reference

DIGEST = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("python", "docker.io/library/python:latest"),
        ("python:3.13-slim", "docker.io/library/python:3.13-slim"),
        ("team/boats", "docker.io/team/boats:latest"),
        ("index.docker.io/python", "docker.io/library/python:latest"),
        ("localhost/boats", "localhost/boats:latest"),
        ("localhost:5000/team/boats:1", "localhost:5000/team/boats:1"),
        ("[::1]:5000/boats", "[::1]:5000/boats:latest"),
        ("registry.test/a/b/c:v1", "registry.test/a/b/c:v1"),
        (f"registry.test/boats@{DIGEST}", f"registry.test/boats@{DIGEST}"),
        (f"registry.test/boats:1@{DIGEST}", f"registry.test/boats:1@{DIGEST}"),
    ],
)
def test_a_name_is_completed_as_docker_does(text: str, full: str) -> None:
    assert str(Reference.parse(text)) == full
    assert str(Reference.parse(full)) == full


@pytest.mark.parametrize(
    "text",
    ["", "Boats", "boats:", "boats:-x", "http://registry.test/boats", "boats@sha256:1", "a//b", "boats\n", "../b"],
)
def test_a_text_that_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(OciError, match="is not the name of an image"):
        Reference.parse(text)


def test_a_digest_wins_over_a_tag() -> None:
    assert Reference.parse(f"boats:1@{DIGEST}").target == DIGEST

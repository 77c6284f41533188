"""Python's versions as semantic ones."""

import pytest

from sampan.project.errors import ProjectError
from sampan.project.versions import semantic_version


@pytest.mark.parametrize(
    ("version", "semantic"),
    [
        ("1.2.3", "1.2.3"),
        ("1", "1.0.0"),
        ("v1.2", "1.2.0"),
        ("2026.01.05", "2026.1.5"),
        ("1.2.3.4", "1.2.3+4"),
        ("1.2rc1", "1.2.0-rc.1"),
        ("1.2.3a", "1.2.3-alpha.0"),
        ("0.1.0.dev3", "0.1.0-dev.3"),
        ("1.2b2.dev3", "1.2.0-beta.2.dev.3"),
        ("1.0.post2", "1.0.0+post.2"),
        ("1.0+linux_x86.7", "1.0.0+linux.x86.7"),
        ("1!2.0", "2.0.0"),
    ],
)
def test_a_version_of_a_package_becomes_a_semantic_one(version: str, semantic: str) -> None:
    assert semantic_version(version) == semantic


@pytest.mark.parametrize("version", ["", "latest", "1.2-", "1..2", "1.0.0-x.y"])
def test_another_text_is_refused(version: str) -> None:
    with pytest.raises(ProjectError, match="is no version of a Python package"):
        semantic_version(version)

"""Archives of images, and the registry that serves them."""

import tarfile
from pathlib import Path

from tests.machines.oci import OciArchive
from tests.machines.oci_registry import Images


def test_registry_serves_what_the_archive_has(tmp_path: Path) -> None:
    layer = tmp_path / "layer.tar"
    with tarfile.open(layer, "w") as tar:
        tar.add(__file__, "file")
    archive = tmp_path / "images.tar"
    with OciArchive(archive) as written:
        described = written.layer(layer)
        written.image("registry.test/one:1", [described], {"Cmd": ["a"]})
        written.image("registry.test/two:1", [written.layer(layer)], {"Cmd": ["b"]})
    images = Images(archive)
    size, content = images.blob(described["digest"]) or (0, iter(()))
    assert (size, b"".join(content)) == (layer.stat().st_size, layer.read_bytes())
    digests = [images.digest(name, "1") for name in ("one", "two")]
    assert all(images.blob(digest) for digest in digests)
    assert digests[0] != digests[1]
    assert images.digest("one", "2") == ""
    assert images.blob("sha256:0") is None

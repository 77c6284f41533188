"""Images that machines of a page can have. `registry.test/app:1` is busybox; `IMAGES` has the others.

Debian's static busybox crashes when it looks up a name. So the image of a client that uses names is
`registry.test/curl:1`.
"""

import shutil
import tarfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from tests.e2e.cri import image, python_image
from tests.journeys import operators_image, postgresql_image
from tests.journeys.libraries import libraries
from tests.machines import require_program
from tests.machines.oci import OciArchive

CURL: Final = "registry.test/curl:1"


def archives(names: Iterable[str], directory: Path) -> Mapping[str, Path]:
    """Write the archives of images, and return their paths. Raises KeyError if there is no such image."""
    basic = directory / "images.tar"
    image.build(basic)
    found = {image.APP: basic, image.PAUSE: basic}
    for number, name in enumerate(sorted(set(names) - set(found))):
        found[name] = directory / f"image-{number}.tar"
        IMAGES[name](found[name])
    return found


def _curl(archive: Path) -> None:
    """Write an image with busybox, and with this computer's curl."""
    require_program("curl")
    found = shutil.which("curl")
    assert found is not None
    busybox, curl = archive.with_suffix(".busybox"), archive.with_suffix(".curl")
    image.write_layer(busybox)
    with tarfile.open(curl, "w") as tar:
        for path in (Path(found), *libraries(Path(found))):
            tar.add(path.resolve(), str(path).lstrip("/"))
    with OciArchive(archive) as images:
        layers = [images.layer(busybox), images.layer(curl)]
        config = {"Cmd": ["/bin/sleep", "1000000"], "Env": ["PATH=/bin:/usr/bin"]}
        images.image(CURL, layers, config)
    busybox.unlink()
    curl.unlink()


IMAGES: Final[Mapping[str, Callable[[Path], None]]] = {
    CURL: _curl,
    operators_image.NAME: operators_image.build,
    python_image.NAME: python_image.build,
    postgresql_image.NAME: postgresql_image.build,
}
"""Function that writes an OCI archive with an image. It calls `pytest.skip` if this computer cannot build it."""

"""Makes the archive that the krew manifest names: `python packaging/krew/archive.py kubectl-sampan.zip`.

The same files always give the same bytes, so that the manifest can hold the archive's SHA-256 before it is published:
nothing is compressed, and times are ZIP's earliest one.
"""

import hashlib
import io
import sys
import zipfile
from pathlib import Path

FOLDER = Path(__file__).parent
FILES = ((FOLDER / "kubectl-sampan", 0o100755), (FOLDER.parents[1] / "LICENSE", 0o100644))
_UNIX = 3


def archive() -> bytes:
    """The ZIP file."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as target:
        for path, mode in FILES:
            member = zipfile.ZipInfo(path.name, (1980, 1, 1, 0, 0, 0))
            member.create_system, member.external_attr = _UNIX, mode << 16
            target.writestr(member, path.read_bytes())
    return packed.getvalue()


if __name__ == "__main__":
    body = archive()
    Path(sys.argv[1]).write_bytes(body)
    print(hashlib.sha256(body).hexdigest())

"""`musl_wheel`: a copy of a wheel for Linux with musl, where google-re2 has no wheel.

The copy has the same files, the tags of musl, and does not require google-re2. pip prefers its tags to `any`. A marker
of the requirement cannot express this: markers do not distinguish C libraries.
"""

import base64
import csv
import hashlib
import io
import re
import zipfile
from pathlib import Path
from typing import Final

PLATFORMS: Final = ("musllinux_1_2_aarch64", "musllinux_1_2_x86_64")
WITHOUT: Final = "google-re2"
"""Requirement that is removed. `sampan.schema.regex.engine` works without it."""
_REQUIREMENT: Final = re.compile(rf"^Requires-Dist: {WITHOUT}\b.*\n", re.MULTILINE)
_TAG: Final = re.compile(r"^Tag: py3-none-any\n", re.MULTILINE)


def musl_wheel(wheel: Path) -> Path:
    """Write the copy next to a wheel for any platform, and return its path."""
    target = wheel.with_name(wheel.name.replace("-any.whl", f"-{'.'.join(PLATFORMS)}.whl"))
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as copy:
        [record] = [member for member in source.infolist() if member.filename.endswith(".dist-info/RECORD")]
        rows = []
        for member in source.infolist():
            if member is not record:
                content = _changed(member.filename, source.read(member))
                copy.writestr(member, content)
                rows.append((member.filename, _hash(content), str(len(content))))
        copy.writestr(record, _table([*rows, (record.filename, "", "")]))
    return target


def _changed(name: str, content: bytes) -> bytes:
    if name.endswith(".dist-info/METADATA"):
        return _substituted(_REQUIREMENT, "", content)
    if name.endswith(".dist-info/WHEEL"):
        return _substituted(_TAG, "".join(f"Tag: py3-none-{platform}\n" for platform in PLATFORMS), content)
    return content


def _substituted(pattern: "re.Pattern[str]", by: str, content: bytes) -> bytes:
    text, count = pattern.subn(by, content.decode())
    if count != 1:
        raise ValueError(f"expected one line {pattern.pattern} in the wheel, found {count}")
    return text.encode()


def _hash(content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    return f"sha256={digest}"


def _table(rows: list[tuple[str, str, str]]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue()

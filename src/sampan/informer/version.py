"""resourceVersions, compared: as numbers where they are numbers, which Kubernetes promises since 1.35.

Source: KEP-5504 "Comparable Resource Version".
"""


def as_number(resource_version: str) -> int | None:
    """The version as a number; None when it is none."""
    return int(resource_version) if resource_version.isdecimal() and resource_version.isascii() else None


def reached(seen: str, wanted: str, seen_number: int | None = None) -> bool:
    """Whether who has seen one version has seen the other. `seen_number` spares reading `seen`."""
    if seen == wanted:
        return True
    there = as_number(seen) if seen_number is None else seen_number
    asked = as_number(wanted)
    return there is not None and asked is not None and there >= asked


def older(resource_version: str, than: str) -> bool:
    """Whether a version is surely older than another; False when they cannot be compared."""
    one, other = as_number(resource_version), as_number(than)
    return one is not None and other is not None and one < other

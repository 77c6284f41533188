"""Compare resourceVersions as numbers, which Kubernetes guarantees since 1.35.

Source: KEP-5504 "Comparable Resource Version".
"""


def as_number(resource_version: str) -> int | None:
    """Return the version as a number; None if it is not one."""
    return int(resource_version) if resource_version.isdecimal() and resource_version.isascii() else None


def reached(seen: str, desired: str, seen_number: int | None = None) -> bool:
    """Return True if the version `seen` includes `desired`. `seen_number` is `seen` as a number, if known."""
    if seen == desired:
        return True
    seen_at = as_number(seen) if seen_number is None else seen_number
    desired_at = as_number(desired)
    return seen_at is not None and desired_at is not None and seen_at >= desired_at


def older(resource_version: str, than: str) -> bool:
    """Return True if a version is certainly older than another; False if they cannot be compared."""
    one, other = as_number(resource_version), as_number(than)
    return one is not None and other is not None and one < other

"""System metadata, which only the server sets."""

import uuid

from sampan.registry.rest.metadata import new_uid


def test_a_uid_is_a_random_uuid_of_version_4() -> None:
    parsed = uuid.UUID(new_uid())
    assert (parsed.version, parsed.variant) == (4, uuid.RFC_4122)
    assert str(parsed) != new_uid()

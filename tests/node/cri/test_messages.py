"""CRI's messages, made from the descriptor."""

import pytest

from sampan.node.cri.messages import message, value


def test_messages_survive_their_encoding() -> None:
    metadata = message("PodSandboxMetadata")(name="web", namespace="default", uid="1", attempt=2)
    config = message("PodSandboxConfig")(metadata=metadata, labels={"a": "b"})
    assert message("PodSandboxConfig").FromString(config.SerializeToString()) == config


def test_enumerations_have_their_numbers() -> None:
    assert (value("SANDBOX_READY"), value("CONTAINER_EXITED"), value("NODE"), value("TARGET")) == (0, 2, 2, 3)


@pytest.mark.parametrize("get", [message, value])
def test_unknown_name_is_an_error(get: object) -> None:
    with pytest.raises(KeyError):
        get("Unknown")  # type: ignore[operator]  # one of two functions

"""The node's address of the other IP family."""

from typing import Any

import pytest

from sampan.node.node_object.other_address import address_next_to


def info(local: str, **more: object) -> dict[str, Any]:
    family = "inet6" if ":" in local else "inet"
    return {"local": local, "family": family, "scope": "link" if local.startswith("fe80") else "global", **more}


ETH = {"addr_info": [info("10.0.0.1"), info("fe80::1"), info("fd00::9", temporary=True), info("fd00::1")]}
OTHER = {"addr_info": [info("10.1.0.1"), info("fe80::2")]}


@pytest.mark.parametrize(
    ("first", "second"),
    [("10.0.0.1", "fd00::1"), ("fd00::1", "10.0.0.1"), ("10.1.0.1", ""), ("10.9.9.9", ""), ("127.0.0.1", "")],
)
def test_the_other_address_is_a_global_one_of_the_same_interface(first: str, second: str) -> None:
    assert address_next_to(first, [OTHER, ETH]) == second

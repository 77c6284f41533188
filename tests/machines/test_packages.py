"""Checks of the machine before nodes run on it."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.machines import full_disk


@pytest.mark.parametrize(
    ("free", "inodes", "text"),
    [
        (20, 50, ""),
        (14, 50, "has only 14 % of its bytes free: nodes there have DiskPressure and evict Pods below 15 %"),
        (20, 4, "has only 4 % of its inodes free"),
    ],
)
def test_disk_on_which_nodes_evict_pods_is_reported(
    monkeypatch: pytest.MonkeyPatch, free: int, inodes: int, text: str
) -> None:
    disk = SimpleNamespace(f_bavail=free, f_blocks=100, f_favail=inodes, f_files=100)
    monkeypatch.setattr(os, "statvfs", lambda directory: disk)
    found = full_disk(Path("/var/tmp"))
    assert text in found
    assert bool(found) is bool(text)

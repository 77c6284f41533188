"""Ranges of ids for Pods with their own users."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from sampan.node.cri.configuration import user_namespaces
from sampan.node.cri.configuration.user_namespaces import LENGTH, RangesExhausted, UserNamespaces, release
from sampan.node.cri.health import RuntimeHealth


def test_no_two_pods_have_the_same_range(tmp_path: Path) -> None:
    ranges = UserNamespaces()
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda number: ranges.first_id(tmp_path / str(number)), range(40)))
    assert sorted(found) == [LENGTH * number for number in range(1, 41)]


def test_a_restart_keeps_the_range_of_a_pod(tmp_path: Path) -> None:
    before = UserNamespaces()
    before.first_id(tmp_path / "one")
    expected = before.first_id(tmp_path / "two")
    assert UserNamespaces().first_id(tmp_path / "two") == expected


def test_a_released_range_is_used_again(tmp_path: Path) -> None:
    ranges = UserNamespaces()
    found = ranges.first_id(tmp_path / "one")
    ranges.first_id(tmp_path / "two")
    release(tmp_path / "one")
    assert ranges.first_id(tmp_path / "three") == found


def test_an_exhausted_range_of_user_ids_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user_namespaces, "_RANGES", range(LENGTH, 2 * LENGTH, LENGTH))
    ranges = UserNamespaces()
    ranges.first_id(tmp_path / "one")
    with pytest.raises(RangesExhausted, match="all ranges of user ids are in use"):
        ranges.first_id(tmp_path / "two")


def test_a_runtime_without_handlers_has_no_user_namespaces() -> None:
    health = RuntimeHealth("/run/runtime.sock")
    health.reported(SimpleNamespace(status=SimpleNamespace(conditions=[]), runtime_handlers=[]))
    assert not health.has_user_namespaces("")


def test_each_handler_has_its_own_features() -> None:
    features = {
        name: SimpleNamespace(recursive_read_only_mounts=True, user_namespaces=name == "") for name in ("", "vm")
    }
    handlers = [SimpleNamespace(name=name, features=each) for name, each in features.items()]
    health = RuntimeHealth("/run/runtime.sock")
    health.reported(SimpleNamespace(status=SimpleNamespace(conditions=[]), runtime_handlers=handlers))
    assert health.has_user_namespaces("")
    assert not health.has_user_namespaces("vm")
    assert [each["name"] for each in health.handlers] == ["", "vm"]

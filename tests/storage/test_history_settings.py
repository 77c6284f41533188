"""Limits of the history: their texts, and what they exclude."""

import pytest

from sampan.storage.history.settings import SIZE, HistorySettings


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("1000", 1000), ("64Ki", 64 << 10), ("512MiB", 512 << 20), ("1GiB", 1 << 30), ("2TB", 2 << 40)],
)
def test_a_size_is_a_number_with_a_unit_of_1024(text: str, size: int) -> None:
    assert SIZE.read(text) == size
    assert SIZE.read(SIZE.write(size)) == size


@pytest.mark.parametrize("text", ["", "GiB", "-1", "1.5GiB", "1 XB", "1e9"])
def test_a_text_that_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size"):
        SIZE.read(text)


def test_a_limit_of_the_size_is_refused_for_a_shared_store() -> None:
    with pytest.raises(ValueError, match="--history-bytes does not work with --storage etcd"):
        HistorySettings(bytes_max=1).check(shared=True)


def test_the_default_is_what_kubernetes_keeps() -> None:
    history = HistorySettings()
    assert (history.retention_s, history.bytes_max, history.interval_s) == (300, 0, 300)


def test_a_limit_of_the_size_is_checked_more_often() -> None:
    assert HistorySettings(bytes_max=1 << 30).interval_s == 30


def test_a_retention_shorter_than_the_interval_shortens_it() -> None:
    assert HistorySettings(retention_s=20).interval_s == 20

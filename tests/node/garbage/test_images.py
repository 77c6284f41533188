"""Decisions of image garbage collection."""

import pytest

from sampan.node.garbage.images import (
    Disk,
    ImageInStore,
    ImagePolicy,
    ImageRecord,
    bytes_to_free,
    observed,
    reported,
    too_old,
    unused,
)


def image(id: str, *names: str, size: int = 10, pinned: bool = False) -> ImageInStore:
    return ImageInStore(id, names, size, pinned)


def record(first_observed: float = 0.0, last_used: float = 0.0, *, pinned: bool = False) -> ImageRecord:
    return ImageRecord(first_observed, last_used, 10, pinned)


@pytest.mark.parametrize(
    ("available", "freed"),
    [(16, 0), (15, 5), (14, 6), (0, 20)],
    ids=["below the high threshold", "at it", "above it", "full"],
)
def test_images_are_removed_down_to_the_low_threshold(available: int, freed: int) -> None:
    assert bytes_to_free(Disk(100, available), ImagePolicy()) == freed


def test_high_threshold_of_100_removes_nothing() -> None:
    assert bytes_to_free(Disk(100, 0), ImagePolicy(high_percent=100)) == 0


def test_least_recently_used_image_goes_first() -> None:
    records = {"a": record(last_used=300), "b": record(last_used=200), "c": record(50, 200), "used": record(0, 1000)}
    assert unused(records, 1000, 120) == ["b", "c", "a"]


def test_pinned_and_new_images_are_kept() -> None:
    records = {"pinned": record(pinned=True), "new": record(900), "old": record(880)}
    assert unused(records, 1000, 120) == ["old"]


@pytest.mark.parametrize("used", ["sha256:1", "app@sha256:2", "app:1"], ids=["id", "digest", "tag"])
def test_image_of_a_container_is_in_use(used: str) -> None:
    found = observed({}, [image("sha256:1", "app@sha256:2", "app:1")], {used}, 1000, is_first=True)
    assert unused(found, 1000, 0) == []


def test_images_from_before_the_start_of_the_agent_are_old() -> None:
    assert unused(observed({}, [image("a")], (), 1000, is_first=True), 1000, 120) == ["a"]


def test_image_keeps_its_times_until_it_is_gone() -> None:
    first = observed({}, [image("a"), image("b")], {"a"}, 1000, is_first=False)
    second = observed(first, [image("a")], (), 1300, is_first=False)
    assert second == {"a": ImageRecord(1000, 1000, 10, False)}


@pytest.mark.parametrize(
    ("began", "found"), [(0, ["a"]), (500, [])], ids=["after the limit", "the agent has just started"]
)
def test_image_is_too_old_when_it_was_unused_for_the_limit(began: float, found: list[str]) -> None:
    records = {"a": record(0, 300), "b": record(0, 500)}
    assert too_old(records, 1000, ImagePolicy(unused_s_max=600), began=began) == found


def test_images_have_no_age_limit_by_default() -> None:
    assert too_old({"a": record()}, 1e9, ImagePolicy(), began=0) == []


@pytest.mark.parametrize(
    ("policy", "text"),
    [
        (ImagePolicy(80, 80), "--image-gc-low-threshold: 80 must be lower than --image-gc-high-threshold"),
        (ImagePolicy(unused_s_max=60.0), "--image-maximum-gc-age must be more than --minimum-image-ttl-duration"),
    ],
    ids=["thresholds", "ages"],
)
def test_contradicting_limits_are_refused(policy: ImagePolicy, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        policy.check()


def test_node_reports_fifty_images_with_five_names_each() -> None:
    images = [image(str(size), *"abcdef", size=size) for size in range(60)]
    found = reported(images)
    assert [each["sizeBytes"] for each in found] == list(range(59, 9, -1))
    assert found[0]["names"] == list("abcde")

"""Selectors of workloads."""

from hypothesis import given
from hypothesis import strategies as st

from sampan.core.label_selectors import selector_from_label_selector
from sampan.registry.rules.selectors import selector_or_none

LABELS = st.dictionaries(st.sampled_from("abc"), st.sampled_from(["", "x", "y"]))


@given(LABELS, LABELS)
def test_the_fast_path_selects_like_the_full_selector(desired: dict[str, str], labels: dict[str, str]) -> None:
    selector = {"matchLabels": desired}
    short, long = selector_or_none(selector), selector_from_label_selector(selector)
    assert short is not None
    assert (short.matches(labels), short.empty) == (long.matches(labels), long.empty)


def test_no_selector_selects_nothing() -> None:
    selector = selector_or_none(None)
    assert selector is not None
    assert not selector.matches({})


def test_an_invalid_selector_is_none() -> None:
    assert selector_or_none({"matchLabels": {"a": "not valid!"}}) is None
    assert selector_or_none({"matchExpressions": [{"key": "a", "operator": "Near"}]}) is None

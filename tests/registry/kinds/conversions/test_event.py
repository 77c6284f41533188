"""Conversion of events between the two API groups."""

from hypothesis import given
from hypothesis import strategies as st

from sampan.core.object import Object
from sampan.registry.kinds.core.event_conversion import EventConversion

NAMES = (
    "regarding",
    "note",
    "reportingController",
    "reportingInstance",
    "deprecatedSource",
    "deprecatedFirstTimestamp",
    "deprecatedLastTimestamp",
    "deprecatedCount",
    "series",
    "type",
    "reason",
)


def test_new_names_become_core_names() -> None:
    event = {"metadata": {"name": "a"}, "regarding": {"kind": "Pod"}, "note": "hi", "deprecatedCount": 3}
    assert EventConversion().to_hub(event) == {
        "metadata": {"name": "a"},
        "involvedObject": {"kind": "Pod"},
        "message": "hi",
        "count": 3,
    }


@given(st.dictionaries(st.sampled_from(NAMES), st.integers()))
def test_an_event_survives_conversion_to_the_hub_and_back(event: Object) -> None:
    conversion = EventConversion()
    assert conversion.from_hub(conversion.to_hub(dict(event))) == event


def test_empty_core_fields_are_omitted() -> None:
    event = {"metadata": {"name": "a"}, "reportingComponent": "", "reportingInstance": "", "message": ""}
    assert EventConversion().from_hub(event) == {"metadata": {"name": "a"}, "note": ""}

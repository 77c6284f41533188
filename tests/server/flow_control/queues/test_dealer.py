"""Shuffle sharding."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from sampan.server.flow_control.queues.dealer import deal, hash_flow


@given(value=st.integers(0, 2**64 - 1), deck=st.integers(1, 128), data=st.data())
def test_a_hand_has_different_cards_of_the_deck(value: int, deck: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, min(deck, 8)))
    hand = deal(value, deck, size)
    assert len(set(hand)) == size
    assert all(0 <= card < deck for card in hand)


def test_all_hands_are_dealt_equally_often() -> None:
    hands = Counter(deal(value, 5, 3) for value in range(5 * 4 * 3 * 10))
    assert len(hands) == 60
    assert set(hands.values()) == {10}


def test_a_hash_is_the_beginning_of_a_digest() -> None:
    # sha256 of "a", a zero byte and "b": the first eight bytes, the lowest first.
    assert hash_flow("a", "b") == 0xD3B1_BC1B_AE71_B259

"""Shuffle sharding: each flow gets a hand of queues, and two flows seldom the same.

Source: apiserver pkg/util/shufflesharding (1.36).
"""

import hashlib


def deal(hash_value: int, deck: int, hand: int) -> tuple[int, ...]:
    """`hand` different numbers below `deck`, all hands about equally likely. Assumption: hand <= deck."""
    cards: list[int] = []
    remainders: list[int] = []
    for dealt in range(hand):
        hash_value, card = divmod(hash_value, deck - dealt)
        remainders.append(card)
        # The card is a place among those that are left: step over the ones that were dealt before.
        for before in reversed(remainders[:-1]):
            if card >= before:
                card += 1
        cards.append(card)
    return tuple(cards)


def hash_flow(schema: str, distinguisher: str) -> int:
    """64 bits of a flow's identity."""
    digest = hashlib.sha256(schema.encode() + b"\0" + distinguisher.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "little")

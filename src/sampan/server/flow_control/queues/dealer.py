"""Shuffle sharding: each flow gets a hand of queues, and two flows rarely get the same hand.

Source: apiserver pkg/util/shufflesharding (1.36).
"""

import hashlib


def deal(hash_value: int, deck: int, hand: int) -> tuple[int, ...]:
    """Return `hand` different numbers below `deck`. All hands are about equally likely.

    Assumption: hand <= deck.
    """
    cards: list[int] = []
    remainders: list[int] = []
    for dealt in range(hand):
        hash_value, card = divmod(hash_value, deck - dealt)
        remainders.append(card)
        # `card` counts only the cards that are left. Skip those that were dealt before.
        for before in reversed(remainders[:-1]):
            if card >= before:
                card += 1
        cards.append(card)
    return tuple(cards)


def hash_flow(schema: str, distinguisher: str) -> int:
    """Return a 64-bit hash of a flow's identity."""
    digest = hashlib.sha256(schema.encode() + b"\0" + distinguisher.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "little")

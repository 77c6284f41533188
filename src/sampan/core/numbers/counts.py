"""`counted`: a number with its noun, in the singular for one."""


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a text such as `1 problem`, `2 problems`. `plural` is required if it is not the noun with an s."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"

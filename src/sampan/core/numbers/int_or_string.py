"""IntOrString fields that contain a count or a percentage of a total.

Source: apimachinery pkg/util/intstr/intstr.go GetScaledValueFromIntOrPercent (1.36).
"""

from sampan.core.numbers.integers import parse_integer


def scaled_value(value: int | str | None, total: int, *, round_up: bool) -> int:
    """Return `value` if it is a count, or the given percentage of `total`; None is 0.

    **Raises** ValueError for a text that is not a 64-bit integer followed by `%`.
    """
    if not isinstance(value, str):
        return value or 0
    if not value.endswith("%"):
        raise ValueError("invalid value for IntOrString: invalid type: string is not a percentage")
    try:
        share = parse_integer(value[:-1], function="Atoi") * total
    except ValueError as error:
        raise ValueError(f'invalid value for IntOrString: invalid value "{value}": {error}') from None
    return -(-share // 100) if round_up else share // 100

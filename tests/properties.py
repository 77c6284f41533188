"""Number of examples of a property: tests set it for `make test`, and `make fuzz` multiplies it.

The profiles are in conftest.py.
"""

from typing import Final

from hypothesis import HealthCheck, settings

_USUAL: Final = settings.get_profile("default").max_examples

SHARED_FIXTURES: Final = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow)
"""To suppress where all examples of a test may have the same fixtures."""


def examples(number: int) -> int:
    """`max_examples` of a property that is worth `number` of them."""
    return number * settings().max_examples // _USUAL

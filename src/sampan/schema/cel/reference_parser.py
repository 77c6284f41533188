"""The words for syntax errors: what the reference parser (cel-cpp's, of the same grammar as cel-go's) says of a text.

Its list of expected tokens follows from the grammar's tables; no other parser has the same words. It is asked only
about texts that the own parser has refused.
"""

from cel_expr_python import cel
from cel_expr_python.ext import ext_optional

_STATUS = "INVALID_ARGUMENT: "
_LENGTH_MAX = 10_000
"""Longer texts are not worth a second reading."""


def syntax_messages(source: str) -> str:
    """The lines of the reference parser; "" if it has none, as of texts that it accepts or gives up on."""
    if len(source) > _LENGTH_MAX:
        return ""
    environment = cel.NewEnv(extensions=[ext_optional.ExtOptional()])
    try:
        environment.compile(source, disable_check=True)
    except RuntimeError as error:
        text = str(error).removeprefix(_STATUS)
        text = text.removesuffix(f" [{_STATUS.removesuffix(': ')}]")
        if not text.startswith("ERROR: "):
            return ""
        lines = [line for line in text.split("\n") if "<<nil>>" not in line]
        return "\n".join(lines)
    return ""

"""Messages for syntax errors from cel-cpp, whose parser is generated from the same grammar as cel-go's."""

from cel_expr_python import cel
from cel_expr_python.ext import ext_optional

_STATUS = "INVALID_ARGUMENT: "
_LENGTH_MAX = 10_000
"""Length limit of texts that are parsed a second time."""


def syntax_messages(source: str) -> str:
    """Return the error lines of the reference parser; "" if it accepts the text or fails otherwise."""
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

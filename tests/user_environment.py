"""`user_environment`: the variables with which tests run what a user runs.

Programs print something else under CI, under pytest, or with colors: pytest cuts the lines of its summary on a user's
terminal, and does not where CI or BUILD_NUMBER is set. A page shows what users see, on each machine that runs its test.
"""

import os
import re
from typing import Final

_ELSEWHERE: Final = re.compile(
    r"(CI|BUILD_NUMBER|GITHUB_\w+|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|PY_COLORS|CLICOLOR\w*|(PYTEST|COV|RUFF|MYPY)\w*)\Z"
)


def user_environment(**own: str) -> dict[str, str]:
    """Return the variables of this process without those that change what programs print, and with `own`."""
    return {**{name: value for name, value in os.environ.items() if not _ELSEWHERE.match(name)}, **own}

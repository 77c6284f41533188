"""Selection of controllers, such as `*,-cronjob-controller`.

Source: controller-manager app/helper.go `IsControllerEnabled` (1.36).
"""

from collections.abc import Iterable, Sequence

from sampan.core.suggestions import did_you_mean


class UnknownController(ValueError):
    """No controller has this name."""


def chosen_controllers(text: str, known: Sequence[str]) -> tuple[str, ...]:
    """Return the controllers of a comma-separated list: `*` all, `name` this one, `-name` not this one.

    An explicit name overrides `*`. The result has the order of `known`. Raises `UnknownController`.
    """
    words = [word.strip() for word in text.split(",") if word.strip()]
    left_out = {word[1:] for word in words if word.startswith("-")}
    named = {word for word in words if not word.startswith("-")}
    _check(left_out | (named - {"*"}), known)
    return tuple(name for name in known if (name in named or "*" in named) and name not in left_out)


def _check(names: Iterable[str], known: Sequence[str]) -> None:
    unknown = sorted(set(names) - set(known))
    if unknown:
        hint = did_you_mean(unknown[0], known) or f": known controllers are {', '.join(known)}"
        raise UnknownController(f"{', '.join(map(repr, unknown))} is no controller{hint}")

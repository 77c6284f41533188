"""Generated objects: valid ones, and invalid ones for tests of validation.

    @given(objects(Boat))
    def test_each_boat_has_a_crew(boat): ...

    @pytest.mark.parametrize("case", invalid_objects(Boat), ids=str)
    def test_a_wrong_boat_is_refused(case): ...

The schema of the kind gives the values, and the server's own validation is the judge: an object that it does not accept
is repaired. `objects` needs Hypothesis (`pip install sampan[testing]`); nothing else here does.
"""

from importlib import import_module
from typing import Any

from sampan.core.object import Object
from sampan.testing.generated.build import build_object
from sampan.testing.generated.invalid import InvalidObject, invalid_objects_of
from sampan.testing.generated.repair import NotGenerated
from sampan.testing.generated.subject import Subject, UnknownKind, subject_of
from sampan.testing.generated.values.semantics import USUAL, Meanings, companions

__all__ = [
    "USUAL",
    "InvalidObject",
    "Meanings",
    "NeedsHypothesis",
    "NotGenerated",
    "Subject",
    "UnknownKind",
    "build_object",
    "companions",
    "invalid_objects",
    "objects",
    "subject_of",
]


class NeedsHypothesis(ImportError):
    """Hypothesis is not installed."""


def objects(what: Any, *, base: Object | None = None, meanings: Meanings = USUAL, size: int = 60) -> Any:
    """Return a Hypothesis strategy of objects that a server accepts.

    `what` is a declared class, a CRD (dict or path) or the name of a kind (`deploy`, `Deployment`). `base` is a valid
    object, for kinds for which no valid object can be generated; `size` bounds the number of optional fields. Raises
    `NeedsHypothesis`, `UnknownKind`, `NotGenerated`.
    """
    try:
        strategies = import_module("sampan.testing.generated.strategies")
    except ModuleNotFoundError as error:
        if error.name != "hypothesis":
            raise
        raise NeedsHypothesis("objects() needs Hypothesis: pip install 'sampan[testing]'") from None
    return strategies.objects_of_subject(subject_of(what), base, meanings, size)


def invalid_objects(what: Any, *, base: Object | None = None, meanings: Meanings = USUAL) -> list[InvalidObject]:
    """Return minimal invalid objects of a kind, each with the path of the faulty field.

    The list is the same at each call.

    `what` and `base` are as for `objects`. Those of a built-in kind are found by probes of its validation, because its
    schema has few restrictions. Raises `UnknownKind`, `NotGenerated`.
    """
    return invalid_objects_of(subject_of(what), base, meanings)

"""States of an HTTP/1.1 connection: rules as a table, and the interpreter of the table. Clients and servers use both.

Each exchange has two halves, the client's request and the server's response. A reader tracks the state of the half that
it reads (`Half`). `ExchangeState` tracks both, so that a connection is used again only after both are complete.

The API server reads requests ahead of its responses (pipelining), so it tracks its own half with its queue of requests.

Modules on the path of every message bind the enum members to module-level names, because `Half.IDLE` takes 0.15 µs in
Python 3.11.
"""

from enum import Enum
from typing import Final


class Half(Enum):
    """State of one half: the message of one side."""

    __hash__ = object.__hash__  # Enum's own is a Python function

    IDLE = "idle"
    HEAD = "head"
    BODY = "body"
    DONE = "done"
    SWITCHED = "switched"
    """The connection carries another protocol."""
    ERROR = "error"


class Transition(Enum):
    """Change of a half."""

    __hash__ = object.__hash__

    HEAD = "head"
    END = "end"
    WHOLE = "whole"
    """`HEAD` and `END` in one step."""
    SWITCH = "switch"
    FAIL = "fail"


TABLE: Final[dict[Half, dict[Transition, Half]]] = {
    Half.IDLE: {
        Transition.HEAD: Half.BODY,
        Transition.WHOLE: Half.DONE,
        Transition.SWITCH: Half.SWITCHED,
        Transition.FAIL: Half.ERROR,
    },
    Half.BODY: {Transition.END: Half.DONE, Transition.FAIL: Half.ERROR},
    Half.DONE: {Transition.SWITCH: Half.SWITCHED, Transition.FAIL: Half.ERROR},
    Half.SWITCHED: {Transition.FAIL: Half.ERROR},
    Half.ERROR: {Transition.FAIL: Half.ERROR},
}
"""Next state of a half. A step that is not in the table is an error of the caller."""
_IDLE: Final = Half.IDLE
_DONE: Final = Half.DONE


class BadStep(RuntimeError):
    """A step that the state does not allow: an error of the caller, not of the peer."""


class ExchangeState:
    """State of a request and its response. A connection carries one exchange after the other."""

    __slots__ = ("keep_alive", "request", "response")

    def __init__(self) -> None:
        self.request = Half.IDLE
        self.response = Half.IDLE
        self.keep_alive = True
        """False if either side announced the end of the connection."""

    def step_request(self, step: Transition) -> None:
        """Apply a step to the client's half. Raises `BadStep`."""
        try:
            self.request = TABLE[self.request][step]
        except KeyError:
            raise _bad_step(self.request, step) from None

    def step_response(self, step: Transition) -> None:
        """Apply a step to the server's half. Raises `BadStep`."""
        if self.request is _IDLE:
            raise BadStep("a response to no request")
        try:
            self.response = TABLE[self.response][step]
        except KeyError:
            raise _bad_step(self.response, step) from None

    @property
    def reusable(self) -> bool:
        """True if another request can follow: both halves are complete, and neither side closes the connection."""
        return self.keep_alive and self.request is _DONE and self.response is _DONE

    def restart(self) -> None:
        """Begin the next exchange. Raises `BadStep` unless `reusable`."""
        if not self.reusable:
            raise BadStep("the exchange is not complete")
        self.request = self.response = _IDLE


def _bad_step(half: Half, step: Transition) -> BadStep:
    return BadStep(f"{step.value} while {half.value}")

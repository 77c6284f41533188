"""`Profile`: samples of stacks in pprof's protobuf format.

Source: google/pprof proto/profile.proto.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import NamedTuple

from isal import igzip

from sampan.wire.protobuf.encode_values import delimited
from sampan.wire.protobuf.varint import length_prefixes, tag_of, write_varint

FRAMES_MAX = 128
"""Maximum number of frames of a stack. The outermost frames beyond it are left out."""
STACKS_MAX = 20_000
"""Maximum number of different stacks in a profile. Samples of further stacks are combined."""
_INT = 0
_PREFIXES = {number: length_prefixes(number) for number in range(1, 15)}
_TAGS = {number: write_varint(tag_of(number, _INT)) for number in range(1, 15)}


class Frame(NamedTuple):
    """Line of a function."""

    function: str
    file: str = ""
    first_line: int = 0
    line: int = 0


Stack = tuple[Frame, ...]
"""Stack of frames, the innermost first."""
_OTHER: Stack = (Frame("(other)"),)


@dataclass(slots=True)
class Profile:
    """Measured values of each stack."""

    value_types: Sequence[tuple[str, str]]
    """Name and unit of each value: `("cpu", "nanoseconds")`."""
    period_ns: int = 0
    duration_ns: int = 0
    time_ns: int = 0
    """Wall clock time of the start."""
    samples: dict[Stack, list[int]] = field(default_factory=dict)

    def add(self, stack: Stack, *values: int) -> None:
        """Add values to those of a stack, one for each type."""
        known = self.samples.get(stack)
        if known is None:
            if len(self.samples) >= STACKS_MAX:
                stack = _OTHER
            known = self.samples.setdefault(stack, [0] * len(self.value_types))
        for index, value in enumerate(values):
            known[index] += value

    def encode(self) -> bytes:
        """Return the profile in pprof's format, compressed with gzip."""
        packed: bytes = igzip.compress(_Encoder().profile(self), 1, mtime=0)
        return packed

    def text(self, title: str) -> str:
        """Return the profile as text, sorted by the first value in descending order."""
        lines = [f"{title}: {', '.join(f'{name}/{unit}' for name, unit in self.value_types)}"]
        for stack, values in sorted(self.samples.items(), key=lambda item: -item[1][0]):
            lines.append(f"\n{' '.join(map(str, values))} @")
            lines += [f"#\t{frame.function}\t{frame.file}:{frame.line}" for frame in stack]
        return "\n".join(lines) + "\n"


def stack_of(frame: FrameType | None) -> Stack:
    """Return the stack of a running frame."""
    frames: list[Frame] = []
    while frame is not None and len(frames) < FRAMES_MAX:
        frames.append(code_frame(frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return tuple(frames)


def code_frame(code: CodeType, line: int) -> Frame:
    """Return the frame of a line of code."""
    return Frame(code.co_qualname, code.co_filename, code.co_firstlineno, line)


class _Encoder:
    """Assigns numbers to strings, functions and locations on first use."""

    def __init__(self) -> None:
        self._strings: dict[str, int] = {"": 0}
        self._functions: dict[tuple[str, str, int], int] = {}
        self._locations: dict[Frame, int] = {}
        self._parts: list[bytes] = []

    def profile(self, profile: Profile) -> bytes:
        out = [_message(1, self._value_type(*value_type)) for value_type in profile.value_types]
        for stack, values in profile.samples.items():
            ids = _packed(1, [self._location(frame) for frame in stack])
            out.append(_message(2, ids + _packed(2, values)))
        out += self._parts
        if profile.period_ns:
            out.append(_message(11, self._value_type(*profile.value_types[-1])))
        out += [_message(6, text.encode("utf-8", "replace")) for text in self._strings]
        out += [_number(9, profile.time_ns), _number(10, profile.duration_ns), _number(12, profile.period_ns)]
        return b"".join(out)

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings))

    def _value_type(self, name: str, unit: str) -> bytes:
        return _number(1, self._string(name)) + _number(2, self._string(unit))

    def _location(self, frame: Frame) -> int:
        known = self._locations.get(frame)
        if known is None:
            line = _number(1, self._function(frame)) + _number(2, frame.line)
            known = self._locations[frame] = len(self._locations) + 1
            self._parts.append(_message(4, _number(1, known) + _message(4, line)))
        return known

    def _function(self, frame: Frame) -> int:
        key = frame[:3]
        known = self._functions.get(key)
        if known is None:
            known = self._functions[key] = len(self._functions) + 1
            name = self._string(frame.function)
            file = self._string(frame.file)
            body = _number(1, known) + _number(2, name) + _number(3, name) + _number(4, file)
            self._parts.append(_message(5, body + _number(5, frame.first_line)))
        return known


def _number(field_number: int, value: int) -> bytes:
    return _TAGS[field_number] + write_varint(value) if value else b""


def _message(field_number: int, body: bytes) -> bytes:
    return delimited(_PREFIXES[field_number], body)


def _packed(field_number: int, values: Iterable[int]) -> bytes:
    return _message(field_number, b"".join(write_varint(value) for value in values))

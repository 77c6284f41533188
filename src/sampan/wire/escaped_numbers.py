"""`escaped_numbers`: texts of a JSON body that begin like a number and are written with escapes.

Go does not decode the escapes of a quantity, so `"1Gi\\u0020"` is invalid, although `"1Gi "` is not.
Source: apimachinery pkg/api/resource/quantity.go UnmarshalJSON (1.36).
"""

import json
import re
from typing import Final

_LENGTH_MAX: Final = 256
"""Limit of the bytes of a text. A longer one is hardly a quantity."""
_strings = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL).finditer


def escaped_numbers(body: bytes) -> frozenset[str]:
    """Return the decoded texts. The body may be invalid JSON."""
    found = set()
    for match in _strings(body):
        token = match.group()
        if b"\\u" in token and len(token) <= _LENGTH_MAX:
            try:
                text = json.loads(token)
            except ValueError:
                continue
            begins_like_a_number = text.lstrip()[:1] in tuple("+-.0123456789")
            # A text that is also written plainly is accepted.
            if begins_like_a_number and f'"{text}"'.encode("utf-8", "replace") not in body:
                found.add(text)
    return frozenset(found)

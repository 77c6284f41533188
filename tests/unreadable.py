"""Values that end the reading of JSON in different ways: a string that is not UTF-8, and unclosed lists."""

NO_TEXT = b'"\xff"'
DEEP = b"[" * 100_000 + b"]" * 100_000
VALUES = {"no text": NO_TEXT, "deep": DEEP}

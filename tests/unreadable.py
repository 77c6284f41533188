"""Values that break off the reading of JSON in ways of their own: a string that is not UTF-8, and lists without end."""

NO_TEXT = b'"\xff"'
DEEP = b"[" * 100_000 + b"]" * 100_000
VALUES = {"no text": NO_TEXT, "deep": DEEP}

"""Errors of a start: the file in the error of a parser."""

from pathlib import Path

import pytest

from sampan.app.errors import content_of


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        ("config", "the file contains no AuthenticationConfiguration", "config: the file contains no"),
        ("g", "the file contains no AuthorizationConfiguration", "g: the file contains no"),
        ("a.yaml", "cannot read /etc/a.yaml", "a.yaml: cannot read"),
        ("a.yaml", "a.yaml: no key", "a.yaml: no key"),
        ("/etc/a.yaml", "token file '/etc/a.yaml' is empty", "token file"),
    ],
)
def test_the_error_of_a_parser_names_the_file_once(file: str, text: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected) as caught, content_of(Path(file)):
        raise ValueError(text)
    assert str(caught.value).startswith(expected)

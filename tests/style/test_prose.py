"""Plain English in code and documents, as far as a program can see it."""

import ast
from pathlib import Path

import pytest

from tests.style.prose import FIXED_TEXTS, event, faults_of, opening, reader, sentences, words
from tests.style.sources import ROOT, parse, text_of

SOURCES = [path for folder in ("src", "examples", "tests") for path in sorted((ROOT / folder).rglob("*.py"))]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*/README.md")])


def test_code_and_documents_are_in_plain_english() -> None:
    found = [str(fault) for path in [*SOURCES, *DOCUMENTS] for fault in faults_of(path, ROOT)]
    assert found == [], "the rules are in tests/style/prose.py"


@pytest.mark.parametrize("text", ["What a store holds.", "Whether it is open.", "The same, in bytes."])
def test_a_text_that_opens_with_a_question_word_is_found(text: str) -> None:
    assert opening(text)


def test_words_that_make_a_person_of_software_are_found_but_not_in_code() -> None:
    assert words("The store tells whoever asks anew.") == ["tells", "whoever", "asks", "anew"]
    assert words('The verb `says` and the message "nobody" are quoted.') == []


def test_simply_just_and_we_are_found_in_a_document() -> None:
    assert reader("We simply run it, and our server just works.") == ["We", "simply", "our", "just"]
    assert reader("You run it, and the server works with the `us` layout.") == []


def test_a_sentence_of_twenty_six_words_is_found() -> None:
    assert sentences("word " * 26) == ["26 words"]
    assert sentences("word " * 25) == []


def test_a_sentence_ends_at_punctuation_of_chinese() -> None:
    assert sentences("从 watch 到 worker，" + "word " * 13 + "。" + "word " * 13) == []


def test_a_message_of_four_words_in_src_is_checked(tmp_path: Path) -> None:
    source = tmp_path / "src" / "messages.py"
    source.parent.mkdir()
    source.write_text('def fail(name):\n    raise ValueError(f"{name} does not say which")\n')
    assert [fault.phrase for fault in faults_of(source, tmp_path)] == ["say"]


def test_fixed_texts_are_exempt_only_while_src_has_them() -> None:
    literals = [
        node.value
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.walk(parse(text_of(path)))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert [text for text in FIXED_TEXTS if not any(text.split("`x`")[-1] in found for found in literals)] == []


@pytest.mark.parametrize("text", ["%s: %s", "Cannot read %s", "cannot read %s."])
def test_a_log_message_that_is_no_event_is_found(text: str) -> None:
    assert event(text)


def test_a_log_message_with_an_event_and_a_cause_passes() -> None:
    assert event("cannot read %s: %s") == []

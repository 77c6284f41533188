"""Plain English in code and documents, as far as a program can see it."""

import pytest

from tests.style.prose import event, faults_of, opening, sentences, words
from tests.style.sources import ROOT

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


def test_a_sentence_of_twenty_six_words_is_found() -> None:
    assert sentences("word " * 26) == ["26 words"]
    assert sentences("word " * 25) == []


def test_a_sentence_ends_at_punctuation_of_chinese() -> None:
    assert sentences("从 watch 到 worker，" + "word " * 13 + "。" + "word " * 13) == []


@pytest.mark.parametrize("text", ["%s: %s", "Cannot read %s", "cannot read %s."])
def test_a_log_message_that_is_no_event_is_found(text: str) -> None:
    assert event(text)


def test_a_log_message_with_an_event_and_a_cause_passes() -> None:
    assert event("cannot read %s: %s") == []

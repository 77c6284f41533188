"""Each symptom of `docs/when-it-goes-wrong.md` appears, has the cause that the page finds, and its cure removes it."""

import shutil
from pathlib import Path
from typing import Final

import pytest

from tests.journeys.page import Command
from tests.journeys.shown import matches
from tests.symptoms.page import PARTS, Symptom, symptoms
from tests.symptoms.reader import Place, reading

PLACES: Final = {
    "An object stays after `kubectl delete`": Place("finalizer", is_operator_started=False),
    "The operator reconciles without end": Place("endless"),
    "A changed label has no effect": Place("predicate"),
    "Conflict: the object has been modified": Place("conflict"),
    "Forbidden: the operator cannot patch": Place("rights", "harbour", loops="serviceaccount", context="boats"),
    "A field changes to and fro": Place("two_writers"),
    "An owned object disappears": Place("other_namespace"),
    "A field that the operator writes stays empty": Place("pruned", "harbour"),
    "The operator stops responding: event loop blocked": Place("blocked"),
    "A test waits for Pods in vain": Place("loops_of_tests"),
    "The cluster did not settle": Place("unsettled", "endless", is_operator_started=False),
    "An exploration finds another end": Place("explored"),
    "No matches for kind": Place("missing_crd", "harbour"),
    "Failed calling webhook": Place("webhook"),
    "Certificate signed by unknown authority": Place("certificate"),
    "A namespace stays in Terminating": Place("namespace"),
    "A Pod stays Pending": Place("pending", loops="all"),
    "CrashLoopBackOff": Place("crash", up=["--node-runtime=process"]),
    "ImagePullBackOff": Place("image", loops="all"),
    "A Service has no endpoints": Place("service", loops="all"),
    "A Deployment has too few Pods": Place("quota", loops="all"),
}
"""Heading of each symptom → what its reader has."""
SYMPTOMS: Final = symptoms()

each_symptom = pytest.mark.parametrize("symptom", SYMPTOMS, ids=lambda each: PLACES[each.title].folder)


@each_symptom
def test_a_symptom_appears_and_its_cure_removes_it(symptom: Symptom, tmp_path: Path) -> None:
    if shutil.which("kubectl") is None:
        pytest.skip("needs kubectl")
    with reading(PLACES[symptom.title], tmp_path) as reader:
        for step in symptom.steps:
            reader.do(step)


@each_symptom
def test_a_symptom_has_a_cause_and_a_cure_with_commands(symptom: Symptom) -> None:
    parts = [symptom.text.find(each) for each in PARTS]
    assert parts == sorted(parts)
    assert -1 not in parts
    ends = [*parts[1:], len(symptom.text)]
    assert all("$ " in symptom.text[start:end] for start, end in zip(parts, ends, strict=True))


@each_symptom
def test_a_command_that_shows_the_symptom_prints_something_else_after_the_cure(symptom: Symptom) -> None:
    commands = [each for each in symptom.steps if isinstance(each, Command)]
    assert any(differs(first, last) for first in commands for last in commands if first.line < last.line)


def differs(first: Command, last: Command) -> bool:
    """Return True if a command is repeated with another result."""
    is_equal = first.code == last.code and matches(first.output, "\n".join(last.output))
    return first.text == last.text and not is_equal


def test_the_page_has_all_symptoms() -> None:
    assert [each.title for each in SYMPTOMS] == list(PLACES)

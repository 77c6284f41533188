"""Tests that the generated files in this repository are up to date."""

from pathlib import Path

from sampan.generate.crds import crd_files
from sampan.generate.declared import load
from sampan.generate.files import changed

ROOT = Path(__file__).parents[2]


def test_the_network_examples_crd_is_up_to_date() -> None:
    assert changed(crd_files(load(["network_operator.types"]), ROOT / "examples/01-network/crds")) == []

"""A bundle for OLM, judged by the validation of operator-framework."""

import subprocess
from pathlib import Path
from typing import Final

import pytest

from sampan.project.bundle.olm.bundle import olm_files
from tests.e2e.go_build import build
from tests.project.charts.projects import make_boats, make_simple_boats, objects_of, write_files

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(900)]

MODULE: Final = Path(__file__).parent / "olm"
PROGRAM: Final = "github.com/operator-framework/api/cmd/operator-verify"


@pytest.fixture(scope="module")
def verify(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(MODULE, tmp_path_factory.mktemp("verify") / "operator-verify", "build", PROGRAM)


def problems(verify: Path, bundle: Path) -> list[str]:
    """Return the errors and warnings of the validation, also of the stricter one for OperatorHub."""
    command = [str(verify), "manifests", str(bundle), "--operatorhub_validate", "--object_validate"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    lines = (done.stdout + done.stderr).splitlines()
    # The validation for OperatorHub announces its successor.
    return [each for each in lines if "validator is deprecated" not in each]


def test_a_bundle_with_webhooks_and_conversion_is_valid(verify: Path, tmp_path: Path) -> None:
    project = make_boats(tmp_path)
    sample = (project / "samples/boat.yaml").read_text()
    (project / "samples/boat_v1.yaml").write_text(sample.replace("v1alpha1", "v1"))
    bundle = write_files(tmp_path / "bundle", olm_files(objects_of(project)))
    assert problems(verify, bundle) == []
    (bundle / "manifests/boats.boats.example.com.crd.yaml").unlink()
    assert any('owned CRD \\"boats.example.com/v1, Kind=Boat\\" not found' in each for each in problems(verify, bundle))


def test_a_bundle_for_all_install_modes_is_valid(verify: Path, tmp_path: Path) -> None:
    project = make_simple_boats(tmp_path)
    assert problems(verify, write_files(tmp_path / "bundle", olm_files(objects_of(project)))) == []

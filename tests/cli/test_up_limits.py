"""Options of `sampan up` about requests at once and encryption at rest that do not fit together."""

import pytest
from click.testing import CliRunner

from sampan.cli.processes.up import up_command


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--max-requests-inflight", "0", "--max-mutating-requests-inflight", "0"], "cannot both be 0"),
        (["--max-requests-inflight", "-1"], "is not in the range"),
        (["--encryption-provider-config-automatic-reload"], "must be set with --encryption-provider-config"),
        (["--encryption-provider-config-automatic-reload", "true"], "must be set with --encryption-provider-config"),
    ],
)
def test_contradicting_limits_are_a_usage_error(options: list[str], text: str) -> None:
    result = CliRunner().invoke(up_command, options)
    assert result.exit_code == 2
    assert text in result.output

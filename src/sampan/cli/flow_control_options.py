"""The options of `sampan up` about how many requests run at once."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from sampan.app.settings import UpSettings

_DEFAULTS = UpSettings()
Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--enable-priority-and-fairness",
        type=click.BOOL,
        default=_DEFAULTS.enable_priority_and_fairness,
        show_default=True,
        help="Let FlowSchemas and PriorityLevelConfigurations say which requests run, and which wait; false: only the "
        "two limits hold.",
    ),
    click.option(
        "--max-requests-inflight",
        type=click.IntRange(min=0),
        default=_DEFAULTS.max_requests_inflight,
        show_default=True,
        help="Reading requests that run at once; 0: no limit. With priority and fairness, the sum of both is shared.",
    ),
    click.option(
        "--max-mutating-requests-inflight",
        type=click.IntRange(min=0),
        default=_DEFAULTS.max_mutating_requests_inflight,
        show_default=True,
        help="The same for changing requests.",
    ),
)


def flow_control_options(command: Command) -> Command:
    """Add them to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def check_flow_control_options(settings: UpSettings) -> None:
    """Raises `click.UsageError` where nobody would have a seat."""
    seats = settings.max_requests_inflight + settings.max_mutating_requests_inflight
    if settings.enable_priority_and_fairness and not seats:
        raise click.UsageError("--max-requests-inflight and --max-mutating-requests-inflight cannot both be 0")

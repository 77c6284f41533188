"""A short run of the attacks that request much and read nothing, on one server."""

import asyncio

from tests.attack.server import attacked
from tests.attack.unread import (
    GROWTH_MB_MAX,
    abandoned_gets,
    closed_windows,
    different_lists,
    hold_unread,
    prepare_unread,
    unread_forms,
    unread_lists,
    unread_watches,
)

SAMPLE = (closed_windows, different_lists, unread_lists, unread_forms, unread_watches, abandoned_gets)


async def test_responses_that_no_client_reads_do_not_fill_the_memory() -> None:
    with attacked() as running:
        await prepare_unread(running)
        count = await asyncio.to_thread(hold_unread, running, 2.0, 0.0, SAMPLE, rested_mb_max=GROWTH_MB_MAX)
    assert count.findings == []

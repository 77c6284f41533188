"""A bounded sample of the attacks, on one server. `python -m tests.attack` runs all of them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attack.authorization import limited, one_right_each
from tests.attack.bombs import explode
from tests.attack.catalogue import prepare, resources
from tests.attack.dns import attack_dns, server_with_dns
from tests.attack.escalation import escalate
from tests.attack.front_proxy import Proxies, pretend
from tests.attack.model import grant
from tests.attack.report import Count
from tests.attack.server import Attacked, attacked, give
from tests.attack.simulated import dial_simulated_pods

SEED = int(os.environ.get("SAMPAN_TEST_SEED", "1"))
USERS = 4
STEP = 3


@pytest.fixture(scope="module")
def target() -> Iterator[Attacked]:
    with attacked() as running:
        yield running


@pytest.fixture(autouse=True)
async def prepared(target: Attacked) -> None:
    async with target.admin() as admin:
        await prepare(admin)


def check(count: Count) -> None:
    assert count.findings == []
    assert count.refused > 0
    assert count.attempts >= count.refused


async def test_a_user_of_one_right_has_that_right_only(target: Attacked) -> None:
    async with target.admin() as admin:
        found = await resources(admin)
    check(await one_right_each(target, found, SEED, USERS))


async def test_a_user_of_one_namespace_or_name_reaches_no_other(target: Attacked) -> None:
    async with target.admin() as admin:
        found = await resources(admin)
    check(await limited(target, found, SEED, USERS))


async def test_no_user_gets_more_rights_than_were_granted(target: Attacked) -> None:
    check(await escalate(target, STEP))


async def test_only_a_front_proxy_names_users_in_headers(tmp_path: Path) -> None:
    proxies = Proxies(tmp_path)
    proxies.make()
    with attacked(*proxies.options) as running:
        check(await pretend(running, proxies))


async def test_odd_requests_cost_little_and_show_nothing_of_other_users(target: Attacked) -> None:
    await give(target, {0: [grant("*", "", "configmaps", "mine")]})
    check(await explode(target))


async def test_queries_for_thousands_of_endpoints_delay_neither_control_loops_nor_other_queries() -> None:
    with server_with_dns() as (running, port):
        check(await attack_dns(running, port, seconds=1.5))


async def test_no_address_of_a_simulated_pod_is_dialled() -> None:
    with attacked("--nodes=1") as running:
        check(await dial_simulated_pods(running))

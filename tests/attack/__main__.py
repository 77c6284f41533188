"""`python -m tests.attack`: start a server, run all attacks on it, and print counts by class and what was found."""

import argparse
import asyncio
import resource
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.attack.authorization import limited, one_right_each
from tests.attack.bombs import explode
from tests.attack.catalogue import prepare, resources
from tests.attack.dns import attack_dns, server_with_dns
from tests.attack.escalation import escalate
from tests.attack.floods import flood
from tests.attack.front_proxy import Proxies, pretend
from tests.attack.memory import REPEATS, REST_S, retained
from tests.attack.model import grant
from tests.attack.races import race
from tests.attack.report import Count
from tests.attack.server import Attacked, attacked, give
from tests.attack.simulated import dial_simulated_pods
from tests.attack.unread import REST_S as UNREAD_REST_S
from tests.attack.unread import SECONDS, hold_unread, prepare_unread

CLASSES = (
    *("authorization", "escalation", "bombs", "floods", "unread", "memory"),
    *("front-proxy", "dns", "simulated", "races"),
)
FILES = 8000


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.attack")
    parser.add_argument("classes", nargs="*", metavar="CLASS", help=f"some of {', '.join(CLASSES)}; none: all")
    parser.add_argument("--seed", type=int, default=1, help="chooses the attempts on other resources")
    parser.add_argument("--users", type=int, help="attack with so many users of limited rights; none: all")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="how often each large request is sent")
    parser.add_argument("--rest", type=float, default=REST_S, help="seconds until memory is measured")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="length of each attack that reads nothing")
    arguments = parser.parse_args()
    if unknown := set(arguments.classes) - set(CLASSES):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    return arguments


async def _by_requests(target: Attacked, classes: Sequence[str], arguments: argparse.Namespace) -> list[Count]:
    counts = []
    async with target.admin() as admin:
        await prepare(admin)
        found = await resources(admin)
    if "authorization" in classes:
        counts.append(await limited(target, found, arguments.seed, arguments.users))
        counts.append(await one_right_each(target, found, arguments.seed, arguments.users))
    if "escalation" in classes:
        counts.append(await escalate(target))
    await give(target, {0: [grant("*", "", "configmaps", "mine")]})
    if "bombs" in classes:
        counts.append(await explode(target))
    return counts


def _by_unread(seconds: float) -> Count:
    """Attack a server that has done nothing else, so that its memory is that of an idle server."""
    with attacked() as target:
        asyncio.run(prepare_unread(target))
        return hold_unread(target, seconds, min(seconds, UNREAD_REST_S))


def _by_front_proxies() -> Count:
    with tempfile.TemporaryDirectory(prefix="sampan-attack-") as made:
        proxies = Proxies(Path(made))
        proxies.make()
        with attacked(*proxies.options) as target:
            return asyncio.run(pretend(target, proxies))


def main() -> int:
    """Return 1 if anything was found."""
    arguments = _arguments()
    classes = arguments.classes or CLASSES
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES if hard == resource.RLIM_INFINITY else min(FILES, hard), hard))
    with attacked() as target:
        counts = asyncio.run(_by_requests(target, classes, arguments))
        if "floods" in classes:
            counts.append(flood(target))
        if "memory" in classes:
            counts.append(asyncio.run(retained(target, arguments.repeats, arguments.rest)))
    if "unread" in classes:
        counts.append(_by_unread(arguments.seconds))
    if "front-proxy" in classes:
        counts.append(_by_front_proxies())
    if "races" in classes:
        counts.append(race())
    if "dns" in classes:
        with server_with_dns() as (target, port):
            counts.append(asyncio.run(attack_dns(target, port)))
    if "simulated" in classes:
        with attacked("--nodes=1") as target:
            counts.append(asyncio.run(dial_simulated_pods(target)))
    print(f"{'class':40} {'attempts':>8} {'refused':>8} {'findings':>8}")
    for count in counts:
        print(count)
        for finding in count.findings:
            print(f"    {finding}")
    return int(any(count.findings for count in counts))


if __name__ == "__main__":
    sys.exit(main())

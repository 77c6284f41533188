"""Class a: a user with exactly one right can do exactly that, by every path of every resource."""

import random
from collections.abc import Iterator, Sequence

from tests.attack.attempts import Attempt, of_resource
from tests.attack.catalogue import Resource
from tests.attack.model import Grant, grant, missing
from tests.attack.report import Count
from tests.attack.server import Attacked, give
from tests.attack.wire import Reply

ALL_VERBS = "get list watch create update patch delete deletecollection"
FOREIGN = 12
"""Attempts on other resources that a user of one right makes too."""


def rights(found: Sequence[Resource]) -> list[Grant]:
    """Return each right that there is, one verb each."""
    names = {(each.group, whole) for each in found for whole in _wholes(each)}
    return [grant(verb, group, whole) for group, whole in sorted(names) for verb in ALL_VERBS.split()]


def _wholes(resource: Resource) -> Iterator[str]:
    yield resource.name
    yield from (f"{resource.name}/{below}" for below in resource.subresources)


def judge(attempt: Attempt, grants: Sequence[Grant], reply: Reply) -> str:
    """Return what is wrong with a reply, or an empty string.

    Without its first right, a request is refused before anything else. Without a later one it only must not succeed.
    """
    lacking = missing(grants, attempt.needed)
    refused = reply.status == 403 and "cannot " in reply.message
    if lacking is not None and not refused and (lacking == attempt.needed[0] or reply.status < 400):
        return f"{attempt} answered {reply.status} without {lacking.verb} {lacking.resource}: {reply.message[:200]}"
    if lacking is None and refused:
        return f"{attempt} refused although allowed: {reply.message[:200]}"
    return f"{attempt} answered {reply.status}: {reply.message[:200]}" if reply.status in (0, 500) else ""


async def try_all(
    attacked: Attacked, number: int, grants: Sequence[Grant], attempts: Sequence[Attempt], count: Count
) -> None:
    """Send attempts as a user, and count how each ended. What is allowed is sent as a dry run."""
    async with attacked.user(number) as client:
        for attempt in attempts:
            allowed = missing(grants, attempt.needed) is None
            sent = attempt.dry() if allowed else attempt
            reply = await client.request(sent.method, sent.target, sent.body, sent.content_type, sent.headers)
            head = attempt.method == "HEAD" and reply.status == 403
            reply = Reply(403, body=b"cannot ") if head else reply
            count.note(
                f"{sorted(grants[0].verbs)} {sorted(grants[0].resources)}", not allowed, judge(sent, grants, reply)
            )


async def one_right_each(attacked: Attacked, found: Sequence[Resource], seed: int, users: int | None = None) -> Count:
    """Give each user one right, and send everything that the resource of the right has, and some of the others."""
    count, chance = Count("a: one right each"), random.Random(seed)
    by_name: dict[tuple[str, str], list[Resource]] = {}
    for resource in found:
        by_name.setdefault((resource.group, resource.name), []).append(resource)
    everything = [attempt for resource in found for attempt in of_resource(resource, "mine", "one")]
    given = rights(found)
    if users is not None:
        given = chance.sample(given, users)
    await give(attacked, dict(enumerate([one] for one in given)))
    for number, one in enumerate(given):
        (whole,) = one.resources
        versions = by_name[one.group, whole.split("/")[0]]
        attempts = [attempt for each in versions for attempt in of_resource(each, "mine", "one")]
        await try_all(attacked, number, [one], [*attempts, *chance.sample(everything, FOREIGN)], count)
    return count


async def limited(attacked: Attacked, found: Sequence[Resource], seed: int, users: int | None = None) -> Count:
    """Give users all verbs on one resource in one namespace, or on one name; they try others."""
    count, chance = Count("a: one namespace, one name"), random.Random(seed)
    grants: list[tuple[Resource, Grant]] = []
    for each in found:
        wholes, space = " ".join(_wholes(each)), "mine" if each.namespaced else ""
        grants += [(each, grant("*", each.group, wholes, space, names)) for names in ("", "one")]
    if users is not None:
        grants = chance.sample(grants, users)
    await give(attacked, {number: [one] for number, (_, one) in enumerate(grants)})
    for number, (resource, one) in enumerate(grants):
        attempts = [
            attempt
            for namespace in (("mine", "theirs", "") if resource.namespaced else ("",))
            for name in ("one", "two")
            for attempt in of_resource(resource, namespace, name)
        ]
        await try_all(attacked, number, [one], attempts, count)
    return count

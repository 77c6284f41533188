"""Tests of the legacy token cleaner: unused tokens are marked and deleted, others stay."""

import datetime as dt
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from sampan.component_base.context import ControllerContext
from sampan.component_base.resources import CONFIG_MAPS, PODS, SECRETS, SERVICE_ACCOUNTS
from sampan.controllers.tokens.legacy_token_cleaner import LegacyTokenCleaner
from sampan.controllers.tokens.pod_secrets import secret_names
from sampan.core.tokens.legacy import INVALID_SINCE_LABEL, LAST_USED_LABEL, TRACKING_NAME, format_day
from tests.controllers.clock import SetClock
from tests.controllers.cluster import Working, cluster

DAY_S = 86400.0
PERIOD_S = 10 * DAY_S
NAME_OF_ACCOUNT = "kubernetes.io/service-account.name"


@dataclass
class Cleaning:
    """A cluster where the account `robot` references the Secret `old`, and a cleaner with manual passes."""

    c: Working
    clock: SetClock
    cleaner: LegacyTokenCleaner

    def day(self, ago: int = 0) -> str:
        """A date in the format of the labels."""
        return format_day(self.clock.now() - dt.timedelta(days=ago))

    async def secret(self, labels: dict[str, str] | None = None, name: str = "old") -> None:
        """Create a Secret with the robot's token."""
        metadata = {"name": name, "annotations": {NAME_OF_ACCOUNT: "robot"}, "labels": labels or {}}
        await self.c.create(SECRETS, {"type": "kubernetes.io/service-account-token", "metadata": metadata})

    async def clean(self) -> dict[str, str] | None:
        """Return the labels of the Secret `old` after a pass; None if it was deleted."""
        names = {each["metadata"]["name"] for each in await self.c.all(SECRETS)}
        informer = self.c.manager.informer_for(SECRETS)
        await self.c.until_all(SECRETS, lambda _: {ref.name for ref in informer.indexer.refs()} == names)
        await self.cleaner.clean()
        if not await self.c.exists(SECRETS, "old"):
            return None
        labels: dict[str, str] = (await self.c.get(SECRETS, "old"))["metadata"].get("labels") or {}
        return labels


@asynccontextmanager
async def cleaning(*, tracked_days: int = 30) -> AsyncIterator[Cleaning]:
    """The cluster with an advanced clock, so that new objects are old. It ends with the block."""
    clock, made = SetClock(), []

    def set_up(context: ControllerContext) -> None:
        settings = ControllerContext(context.manager, clock, legacy_token_clean_up_period_s=PERIOD_S)
        made.append(LegacyTokenCleaner(settings))

    async with cluster(set_up) as c:
        found = Cleaning(c, clock, made[0])
        clock.forward(20 * DAY_S)
        tracking: Any = {"metadata": {"name": TRACKING_NAME}, "data": {"since": found.day(tracked_days)}}
        tracking |= {"apiVersion": "v1", "kind": "ConfigMap"}
        await c.client.resource(CONFIG_MAPS, namespace="kube-system").create(tracking)
        await c.create(SERVICE_ACCOUNTS, {"metadata": {"name": "robot"}, "secrets": [{"name": "old"}]})
        known = c.manager.informer_for(SERVICE_ACCOUNTS).indexer
        await c.until_all(SERVICE_ACCOUNTS, lambda _: "default/robot" in known)
        yield found


async def test_an_unused_token_is_marked_as_invalid() -> None:
    async with cleaning() as t:
        await t.secret()
        assert await t.clean() == {INVALID_SINCE_LABEL: t.day()}


async def test_an_invalid_mark_is_replaced() -> None:
    async with cleaning() as t:
        await t.secret({INVALID_SINCE_LABEL: "yesterday"})
        assert await t.clean() == {INVALID_SINCE_LABEL: t.day()}


async def test_a_token_that_was_marked_long_ago_is_deleted() -> None:
    async with cleaning() as t:
        await t.secret({INVALID_SINCE_LABEL: t.day(11), LAST_USED_LABEL: t.day(12)})
        assert await t.clean() is None


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param({LAST_USED_LABEL: 10}, id="used on the last day of the period"),
        pytest.param({LAST_USED_LABEL: 3, INVALID_SINCE_LABEL: 20}, id="used although it was invalid"),
        pytest.param({INVALID_SINCE_LABEL: 10}, id="not marked for long"),
    ],
)
async def test_a_recently_used_or_marked_token_stays(labels: dict[str, int]) -> None:
    async with cleaning() as t:
        marks = {name: t.day(ago) for name, ago in labels.items()}
        await t.secret(marks)
        assert await t.clean() == marks


async def test_a_token_with_an_invalid_last_use_stays() -> None:
    async with cleaning() as t:
        await t.secret({LAST_USED_LABEL: "lately"})
        assert await t.clean() == {LAST_USED_LABEL: "lately"}


async def test_nothing_is_cleaned_until_use_was_tracked_for_a_period() -> None:
    async with cleaning(tracked_days=10) as t:
        await t.secret()
        assert await t.clean() == {}


async def test_a_new_token_stays() -> None:
    async with cleaning() as t:
        await t.secret()
        t.clock.forward(-15 * DAY_S)
        assert await t.clean() == {}


async def test_a_manually_created_token_stays() -> None:
    async with cleaning() as t:
        await t.c.patch(SERVICE_ACCOUNTS, "robot", {"secrets": None})
        await t.c.until_all(SERVICE_ACCOUNTS, lambda _: not _named(t))
        await t.secret()
        assert await t.clean() == {}


def _named(t: Cleaning) -> Any:
    ref = t.c.manager.informer_for(SERVICE_ACCOUNTS).indexer.get("default/robot")
    return ref is not None and ref.decode().get("secrets")


async def test_a_token_that_a_pod_mounts_stays() -> None:
    async with cleaning() as t:
        await t.secret()
        volume = {"name": "t", "secret": {"secretName": "old"}}
        spec = {"containers": [{"name": "c", "image": "i"}], "volumes": [volume]}
        await t.c.create(PODS, {"metadata": {"name": "p"}, "spec": spec})
        assert await t.clean() == {}


@pytest.mark.parametrize(
    "spec",
    [
        {"imagePullSecrets": [{"name": "s"}]},
        {"containers": [{"envFrom": [{"secretRef": {"name": "s"}}]}]},
        {"initContainers": [{"env": [{"name": "E", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]}]},
        {"volumes": [{"projected": {"sources": [{"secret": {"name": "s"}}]}}]},
        {"volumes": [{"csi": {"nodePublishSecretRef": {"name": "s"}}}]},
    ],
    ids=["to pull images", "environment", "a variable", "projected volume", "CSI volume"],
)
def test_a_pod_names_secrets(spec: Any) -> None:
    pod: Any = {"spec": spec}
    assert list(secret_names(pod)) == ["s"]

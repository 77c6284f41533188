"""`Follower`: one watch of everything under the prefix feeds the hub, and so all watches of this server.

What the answers to this store's own writes tell is handed on as soon as it is next (`answers.py`). While many write
through this store, and nobody else, there is no watch: then the answers tell of everything, until one is missing.

Concurrency: `run` is one task of the store. It reads the stream and hands every response to the hub at once, and those
who write hand on what they were told; the hub's watches have bounded buffers and read the past from etcd when these
overflow. A second task asks etcd how far it is while somebody waits for a revision that no event brings. When the
stream breaks, it begins anew on the next endpoint, with the revision after the last one that was seen: no gap, no
duplicate.
"""

import asyncio
import heapq
import logging
from collections.abc import Awaitable, Callable
from itertools import count

from grpc.aio import AioRpcError

from sampan.storage.etcd import messages
from sampan.storage.etcd.answers import MANY, Answers
from sampan.storage.etcd.client import BACKOFF_S, EtcdClient
from sampan.storage.etcd.endpoint import Endpoint
from sampan.storage.etcd.faults import Fault, fault_of, text_of
from sampan.storage.etcd.keys import Keys
from sampan.storage.etcd.reach import PROBE_PAUSE_S
from sampan.storage.etcd.stream import CompactedInEtcd, WatchEndedByEtcd, WatchStream
from sampan.storage.etcd.witness import Witness
from sampan.storage.hub import WatchHub
from sampan.storage.store import StoreEvent, StoreUnavailable

_log = logging.getLogger(__name__)

_PROGRESS_SINCE: dict[tuple[int, ...], tuple[int, ...]] = {(3, 4): (3, 4, 31), (3, 5): (3, 5, 13)}
"""By the minor version; all from 3.6 on do."""
_NUDGE_S = 0.01
_NUDGE_BY_WRITE_S = 0.25
_SILENCE_MAX_S = 2.0
_ASLEEP_S = 30.0
"""Who has heard nothing for so long may have stood still."""
_GLANCE_S = 0.02
_GLANCES = 12
"""Without a watch: how often is looked whether something is missing, and after how many looks whether there are still
many answers."""
_WATCH_S = 5.0
"""How long there is a watch after something was missing."""


def tells_progress(version: str) -> bool:
    """Whether an etcd of this version says how far a watch is only after it has sent all events up to there.

    Older ones may say so too early. Source: apiserver storage/feature/feature_support_checker.go (1.36).
    """
    try:
        numbers = tuple(int(part) for part in version.partition("-")[0].split("."))
    except ValueError:
        return False
    return numbers >= _PROGRESS_SINCE.get(numbers[:2], (3, 6))


class Nudge:
    """Makes a watch tell how far it is: by asking, or (etcd before 3.4.31, 3.5.13) by a write that it sees.

    One for each watch: while an etcd is upgraded its endpoints are not alike. `whole`: the watch must be of everything
    under the prefix to be nudged.
    """

    def __init__(self, client: EtcdClient, keys: Keys) -> None:
        self._client = client
        self._keys = keys
        self.whole = True

    def another(self) -> "Nudge":
        """For another watch."""
        return Nudge(self._client, self._keys)

    async def learn(self) -> Endpoint:
        """Find out what an endpoint can do, and give it: the watch has to be there. Raises `StoreUnreachable`."""
        version, endpoint = await self._client.version()
        self.whole = not tells_progress(version)
        return endpoint

    @property
    def after_s(self) -> float:
        """How long events are waited for before."""
        return _NUDGE_BY_WRITE_S if self.whole else _NUDGE_S

    async def give(self, stream: WatchStream) -> None:
        """Nudge a watch; it may be needed again. Raises `AioRpcError`, `StoreUnavailable`."""
        if self.whole:
            await self._client.ask(messages.PUT, messages.PutRequest(key=self._keys.barrier))
        else:
            await stream.request_progress()

    def reached(self, response: messages.AnyMessage) -> int:
        """How far a watch is with a response; 0: it does not say."""
        if response.events:
            revision: int = response.events[-1].kv.mod_revision
            return revision
        return 0 if self.whole or response.created else int(response.header.revision)


async def _not_alone() -> bool:
    return False


class Follower:
    """See the module. `alone()`: whether nobody else writes now."""

    def __init__(
        self,
        client: EtcdClient,
        hub: WatchHub,
        keys: Keys,
        nudge: Nudge,
        alone: Callable[[], Awaitable[bool]] = _not_alone,
    ) -> None:
        now = asyncio.get_running_loop().time
        self._client = client
        self._hub = hub
        self._keys = keys
        self._nudge = nudge
        self._witness = Witness(client, keys)
        self._alone = alone
        self._answers = Answers(now)
        self._watch_until = now()
        self._waiters: list[tuple[int, int, asyncio.Future[bool]]] = []
        self._numbers = count()
        self._wanted = asyncio.Event()
        self.watching = asyncio.Event()
        """Set while a watch that etcd has confirmed is read, or none is needed."""
        hub.fail(None)
        client.history.replaced = hub.fail

    async def run(self) -> None:
        """Follow etcd until cancelled, or until it is another one. `hub.revision` says after which revision."""
        pause_s = BACKOFF_S[0]
        while True:
            before = self._hub.revision
            try:
                await self._follow_or_skip()
                continue
            except (AioRpcError, WatchEndedByEtcd, TimeoutError, StoreUnavailable) as error:
                if self._client.history.fault:
                    return  # the hub tells everybody
                why = text_of(error) if isinstance(error, AioRpcError) else str(error)
                # While etcd is away it is so twice in a second, and the lookout has said why.
                level = logging.DEBUG if self._client.reach.away else logging.WARNING
                _log.log(level, "the watch of etcd broke, it goes on elsewhere: %s", why)
            finally:
                self.watching.clear()
            pause_s = BACKOFF_S[0] if self._hub.revision > before else min(pause_s * 2, BACKOFF_S[1])
            await asyncio.sleep(pause_s)

    async def reach(self, revision: int, timeout_s: float) -> bool:
        """Wait until the hub has every event up to a revision that etcd has; False after `timeout_s`."""
        if self._hub.revision >= revision:
            return True
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiters, (revision, next(self._numbers), future))
        self._wanted.set()
        timer = asyncio.get_running_loop().call_later(timeout_s, _settle, future, False)
        try:
            return await future
        finally:
            timer.cancel()

    async def wrote(self, event: StoreEvent) -> None:
        """This store has written; returns when it is handed on, unless something before it is not known yet."""
        answers, hub = self._answers, self._hub
        if event.revision > hub.revision:
            answers.add(event)
        while (until := answers.reach(hub.revision)) > hub.revision:
            before = hub.revision
            await self._client.told.free(until)
            if hub.revision == before:  # nobody else has handed on anything meanwhile
                self._hand_on(answers.take(before, until), until)

    async def _follow_or_skip(self) -> None:
        try:
            await self._follow()
            await self._go_without()
        except CompactedInEtcd as error:
            await self._skip(error)

    async def _follow(self) -> None:
        await self._check_history()
        endpoint, keys = await self._nudge.learn(), self._keys
        async with self._client.watch(keys.barrier, keys.end, self._hub.revision + 1, at=endpoint) as stream:
            await self._check_history()  # again: etcd may have been restored meanwhile
            self.watching.set()
            work = self._read(stream), self._keep_nudging(stream), self._until_needless()
            tasks = [asyncio.create_task(part) for part in work]
            try:
                ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in ended:
                    task.result()
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    async def _until_needless(self) -> None:
        """Return when there are many answers, and nobody else writes."""
        often, now = self._answers.often, asyncio.get_running_loop().time
        often.clear()
        while True:
            await often.wait()
            often.clear()
            if now() >= self._watch_until and await self._alone():
                return

    async def _go_without(self) -> None:
        """Return when a watch is needed: others write, or something is missing; or there are not many answers now."""
        hub, history, missing, many = self._hub, self._client.history, 0, True
        while many:
            count = self._answers.count
            for _ in range(_GLANCES):
                if not await self._alone():
                    return
                before = hub.revision
                await asyncio.sleep(_GLANCE_S)
                missing = missing + 1 if hub.revision == before < history.revision else 0
                if missing > 1:
                    self._watch_until = asyncio.get_running_loop().time() + _WATCH_S
                    return
            many = self._answers.count - count >= MANY // 2

    async def _read(self, stream: WatchStream) -> None:
        now = asyncio.get_running_loop().time
        while True:
            asked = now()
            response = await stream.next()
            if now() - asked > _ASLEEP_S:
                await self._check_history()
            reached = self._nudge.reached(response)
            if reached > self._hub.revision:
                await self._client.told.free(reached)
            if reached > self._hub.revision:
                self._answers.forget(reached)
                self._hand_on(self._keys.events(response.events, self._hub.revision), reached)

    def _hand_on(self, events: list[StoreEvent], reached: int) -> None:
        self._client.history.reached(reached)
        if events:
            self._witness.saw(events[-1])
        self._hub.dispatch(events, reached)
        self._answer_waiters()

    async def _check_history(self) -> None:
        """Raises `CompactedInEtcd` when etcd has forgotten what comes after what was seen, `StoreUnreachable`.

        A watch whose buffer is full just then is not always told so (etcd 3.5.1): it may go on with what is newer.
        """
        revision = self._hub.revision
        try:
            request = messages.RangeRequest(key=self._keys.barrier, keys_only=True, revision=revision)
            await self._client.ask(messages.RANGE, request)
        except AioRpcError as error:
            fault = fault_of(error)
            if fault is Fault.COMPACTED:
                raise CompactedInEtcd(revision) from error
            if fault is Fault.FUTURE:  # what was seen is not there: the answer to this says how far etcd is
                await self._client.ask(messages.RANGE, messages.RangeRequest(key=self._keys.barrier, keys_only=True))
            raise
        await self._witness.check()

    def _answer_waiters(self) -> None:
        waiters, reached = self._waiters, self._hub.revision
        while waiters and waiters[0][0] <= reached:
            _settle(heapq.heappop(waiters)[2], True)

    async def _keep_nudging(self, stream: WatchStream) -> None:
        """Nudge the stream while somebody waits in vain. Raises `WatchEndedByEtcd` when it stays silent."""
        silent_s = 0.0
        while silent_s < _SILENCE_MAX_S:
            if not self._waiting():
                self._wanted.clear()
                await self._wanted.wait()
            before, pause_s = self._hub.revision, self._nudge.after_s
            await asyncio.sleep(pause_s)
            if self._hub.revision > before or not self._waiting():
                silent_s = 0.0
            else:
                silent_s += pause_s
                await self._nudge.give(stream)
        raise WatchEndedByEtcd(f"nothing came for {_SILENCE_MAX_S:g} s, though etcd is further")

    def _waiting(self) -> bool:
        waiters = self._waiters
        while waiters and waiters[0][2].done():
            heapq.heappop(waiters)
        return bool(waiters)

    async def _skip(self, error: CompactedInEtcd) -> None:
        """What happened is forgotten: go on with what is now, and let every watch find out for itself."""
        _log.warning("etcd has forgotten what happened after revision %d: %s", self._hub.revision, error)
        await asyncio.sleep(2 * PROBE_PAUSE_S)  # when etcd was away the question for its version has been the probe
        answer = await self._client.ask(messages.RANGE, messages.RangeRequest(key=self._keys.barrier))
        await self._client.told.free(answer.header.revision)
        self._answers.forget(answer.header.revision)
        self._hub.skip(answer.header.revision)
        self._answer_waiters()


def _settle(future: asyncio.Future[bool], result: bool) -> None:
    if not future.done():
        future.set_result(result)

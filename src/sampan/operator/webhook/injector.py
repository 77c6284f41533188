"""`CaBundleInjector`: keeps caBundles up to date.

Concurrency: `run` owns two tasks for each target: an informer of the object, and a loop that checks the object after
changes of it or of the certificates. Errors are logged and retried, separately for each target.
"""

import asyncio
import base64
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from sampan.client.client import Client
from sampan.client.errors import ClientError, Forbidden, NotFound
from sampan.client.options import WriteOptions
from sampan.client.patch import ApplyPatch, Patch
from sampan.client.resource_client import ResourceClient
from sampan.client.retries.backoff import Backoff
from sampan.informer.shared_informer import SharedInformer
from sampan.operator.webhook.certificates import CertificateSource
from sampan.operator.webhook.change_handler import changes
from sampan.operator.webhook.targets import FIELD_MANAGER, InjectionTarget
from sampan.resource import Object

_log = logging.getLogger("sampan.webhook")

_RETRY: Final = Backoff(0.5, factor=2.0, jitter=0.2, cap_s=60.0)


class _AbsentError(Exception):
    """The object does not exist, and the operator may not create it."""


class CaBundleInjector:
    """Writes the bundle of `source` into all targets, again after each change of a target or the bundle."""

    def __init__(self, client: Client, source: CertificateSource, targets: Sequence[InjectionTarget]) -> None:
        self._source = source
        self._client = client
        self._keepers = [_Keeper(client, source, target) for target in targets]

    async def run(self) -> None:
        """Inject until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for keeper in self._keepers:
                tasks.create_task(keeper.run(), name=f"caBundle of {keeper.target.name}")

    async def settled(self) -> None:
        """Wait until each target was checked once, with or without success."""
        for keeper in self._keepers:
            await keeper.looked.wait()


class _Keeper:
    """Keeps one target up to date."""

    def __init__(self, client: Client, source: CertificateSource, target: InjectionTarget) -> None:
        self.target = target
        self.looked = asyncio.Event()
        self._resource: ResourceClient[Object] = client.resource(target.info)
        self._source = source
        self._changed = asyncio.Event()
        self._reported = False
        source.listen(self._changed.set)

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            informer = SharedInformer(self._resource.list_watch_of(self.target.name), self._resource.object_type)
            informer.add_handler(changes(self._changed.set))
            tasks.create_task(informer.run())
            delays = _RETRY.delays()
            while True:
                self._changed.clear()
                try:
                    await self._look()
                except _AbsentError:
                    self.looked.set()
                    await self._wait_for_object(next(delays))
                    continue
                except (ClientError, OSError, ValueError) as error:
                    _log.warning("cannot update the caBundle of %s: %s", self.target.name, error)
                    self.looked.set()
                    await asyncio.sleep(next(delays))
                    continue
                self.looked.set()
                delays = _RETRY.delays()
                await self._changed.wait()

    async def _wait_for_object(self, delay_s: float) -> None:
        """Wait until the object exists. After the delay, try again: the right to create it may have come."""
        if not self._reported:
            kind = self.target.info.kind
            _log.info("%s %s is absent, and the operator may not create it: waiting for it", kind, self.target.name)
            self._reported = True
        with suppress(TimeoutError):
            async with asyncio.timeout(delay_s):
                await self._changed.wait()

    async def _look(self) -> None:
        """Patch the target if its caBundle differs.

        The certificates are refreshed first. Otherwise a replica that has not noticed a rotation would replace the new
        bundle with the old one. Raises `_AbsentError` if another client has to create the object.
        """
        obj = await self._present()
        if self._patch(obj) is None:
            return
        await self._source.refresh()
        patch = self._patch(obj)
        if patch is None:
            return
        force = isinstance(patch, ApplyPatch)
        try:
            await self._resource.patch(self.target.name, patch, WriteOptions(field_manager=FIELD_MANAGER, force=force))
        except NotFound:
            return  # Deleted meanwhile; it is checked again when it is created.
        except Forbidden as error:
            if await self._present() is None:
                raise _AbsentError from error
            raise
        _log.info("injected the caBundle of %s %s", self.target.info.kind, self.target.name)

    def _patch(self, obj: Object | None) -> Patch | None:
        bundle = base64.b64encode(self._source.material.ca_bundle).decode()
        return self.target.patch(obj, bundle)

    async def _present(self) -> Object | None:
        try:
            return await self._resource.get(self.target.name)
        except NotFound:
            return None

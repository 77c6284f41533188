"""`KmsProvider`: encrypts values with keys that a KMS plug-in protects.

Concurrency: `check` calls the plug-in in a thread, one call at a time; `fetch_keys` does so for unknown seeds. Reads
and writes use the cached seeds. Only a read of a value with an uncached seed calls the plug-in synchronously, on the
event loop. That happens once for each seed, when another server has begun to write with it.

A seed is made on the first call, and when the plug-in's key changes; each value has a key derived from it. Writing
stops three minutes after the plug-in was last healthy; values with cached seeds stay readable.

Source: apiserver pkg/server/options/encryptionconfig/config.go kmsv2PluginProbe (1.36).
"""

import asyncio
import os
import time
import uuid
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final, NamedTuple, TypeVar

from sampan.core.clock import monotonic
from sampan.rpc.proto_table import Method
from sampan.storage.encryption.aes import SEED_SIZE, ExtendedNonceGcm
from sampan.storage.encryption.kms.envelope import (
    Envelope,
    SourceKey,
    check_envelope,
    key_id_hash,
    key_id_problem,
    open_envelope,
    sealed,
    transformer_of,
)
from sampan.storage.encryption.kms.key_service import EncryptedSource, KeyService, KeyStatus
from sampan.storage.encryption.kms.messages import DECRYPT, ENCRYPT, HKDF_SEED, STATUS
from sampan.storage.encryption.measures import FROM, TO, EncryptionMeasures
from sampan.storage.encryption.transformer import EncryptionError, KeyServiceDown, Plain, Transformer

WRITE_MAX_S: Final = 180.0
CHECK_GOOD_S: Final = 60.0
CHECK_BAD_S: Final = 10.0
"""Interval between checks after a failed one (`CHECK_GOOD_S` after a successful one)."""
HEALTH_GOOD_S: Final = 20.0
HEALTH_BAD_S: Final = 3.0
"""Time for which health checks reuse a failed result (`HEALTH_GOOD_S` for a successful one)."""
KNOWN_MAX: Final = 1000
_FAILED_S: Final = 5.0
_Response = TypeVar("_Response")
_VERSIONS: Final = ("v2", "v2beta1")


class SeedState(NamedTuple):
    """Seed for new values."""

    transformer: Transformer
    source: EncryptedSource
    expires: float


class KmsProvider:
    """`Transformer` with one KMS plug-in."""

    needs_keys = True
    prefix = ""

    def __init__(
        self,
        name: str,
        service: KeyService,
        clock: Callable[[], float] = monotonic,
        *,
        measures: EncryptionMeasures | None = None,
    ) -> None:
        """`clock` returns monotonic seconds."""
        self.name = name
        self._measures = measures or EncryptionMeasures()
        self.state: SeedState | None = None
        self._service = service
        self._clock = clock
        self._known: dict[SourceKey, Transformer] = {}
        self._failed: dict[SourceKey, tuple[float, EncryptionError]] = {}
        self._version = ""
        self._checked = -HEALTH_GOOD_S
        self._error: EncryptionError | None = None
        self._checking = asyncio.Lock()

    def read(self, data: bytes, key: bytes) -> Plain:
        """Return the decrypted value."""
        envelope = open_envelope(data)
        transformer = self._known.get(envelope.source_key)
        if transformer is None:
            transformer = self._cache_decrypted(envelope, self._decrypted(envelope))
        plain = transformer.read(envelope.data, key)
        self._measures.used(FROM, self.name, key_id_hash(envelope.source.key_id))
        state = self.state
        current = state is not None and envelope.source.key_id == state.source.key_id
        return Plain(plain.value, not current or envelope.source_type != HKDF_SEED)

    def write(self, value: bytes, key: bytes) -> bytes:
        """Return the encrypted value."""
        state = self.state
        if state is None:
            raise EncryptionError("the KMS plug-in has not returned a data key yet")
        if self._clock() > state.expires:
            raise EncryptionError(f'encryptedDEKSource with keyID hash "{key_id_hash(state.source.key_id)}" expired')
        envelope = Envelope(state.transformer.write(value, key), state.source, HKDF_SEED)
        self._cache(envelope.source_key, state.transformer)
        self._measures.used(TO, self.name, key_id_hash(state.source.key_id))
        return sealed(envelope)

    async def fetch_keys(self, data: Iterable[bytes]) -> None:
        """Fetch the keys that these values need, without blocking the event loop.

        If the plug-in refuses to decrypt a seed, `read` reports it.
        """
        desired: dict[SourceKey, Envelope] = {}
        for each in data:
            try:
                envelope = open_envelope(each)
            except EncryptionError:
                continue
            if envelope.source_key not in self._known:
                desired[envelope.source_key] = envelope
        for envelope in desired.values():
            try:
                plaintext = await asyncio.to_thread(self._decrypted, envelope)
                self._cache_decrypted(envelope, plaintext)
            except KeyServiceDown:
                raise
            except EncryptionError:
                continue

    async def check(self) -> None:
        """Check the plug-in, and make a new seed if its key has changed. Raises `EncryptionError`."""
        async with self._checking:
            await self._check()

    async def health(self) -> None:
        """Check the plug-in for a health check. Raises `EncryptionError`.

        A result is reused for some seconds, and concurrent callers share one check.
        """
        async with self._checking:
            if self._clock() - self._checked >= (HEALTH_BAD_S if self._error else HEALTH_GOOD_S):
                await self._check()
            elif self._error is not None:
                raise self._error

    @property
    def sources_cached(self) -> int:
        """Number of cached seeds and keys."""
        return len(self._known)

    @property
    def healthy(self) -> bool:
        """True if the last check succeeded."""
        return self._error is None

    @property
    def pause_s(self) -> float:
        """Time until the next check, in seconds."""
        return CHECK_GOOD_S if self.healthy else CHECK_BAD_S

    def close(self) -> None:
        """Close the connection."""
        self._service.close()

    async def _check(self) -> None:
        error: EncryptionError | None = None
        try:
            await self._take(await asyncio.to_thread(self._call, STATUS, self._service.status))
        except EncryptionError as fault:
            error = EncryptionError(f"kmsv2 Provider {self.name} is not healthy, error: {fault}")
        self._checked, self._error = self._clock(), error
        if error is not None:
            raise error

    async def _take(self, status: KeyStatus) -> None:
        if status.healthz != "ok":
            raise EncryptionError(f"got unexpected healthz status: {status.healthz}")
        if status.version not in _VERSIONS:
            raise EncryptionError(f"expected KMSv2 API version v2, got {status.version}")
        self._version = self._version or status.version
        if self._version != status.version:
            text = "KMSv2 API version should not change after the initial status response version"
            raise EncryptionError(f"{text} {self._version}, got {status.version}")
        problem = key_id_problem(status.key_id)
        if problem:
            self._measures.status_key_invalid(self.name, status.key_id)
            raise EncryptionError(f'got invalid KMSv2 KeyID hash "{key_id_hash(status.key_id)}": {problem}')
        self._measures.status_key(self.name, key_id_hash(status.key_id))
        expires = self._clock() + WRITE_MAX_S
        if self.state is not None and self.state.source.key_id == status.key_id:
            self.state = self.state._replace(expires=expires)
        else:
            await self._rotate(status.key_id, expires)

    async def _rotate(self, key_id: str, expires: float) -> None:
        began = time.perf_counter()
        seed = os.urandom(SEED_SIZE)
        self._measures.seeds.observe((), time.perf_counter() - began)
        encrypt = partial(self._service.encrypt, str(uuid.uuid4()), seed)
        source = await asyncio.to_thread(self._call, ENCRYPT, encrypt)
        envelope = Envelope(b"\0", source, HKDF_SEED)
        check_envelope(envelope)
        if source.key_id != key_id:
            hashes = f'statusKeyIDHash="{key_id_hash(key_id)}", encryptKeyIDHash="{key_id_hash(source.key_id)}"'
            raise EncryptionError(f"failed to rotate DEK {hashes}")
        self.state = SeedState(ExtendedNonceGcm(seed), source, expires)
        self._cache(envelope.source_key, self.state.transformer)

    def _decrypted(self, envelope: Envelope) -> bytes:
        """Decrypt a seed with the plug-in. A recent refusal is not retried. Raises `EncryptionError`."""
        until, error = self._failed.get(envelope.source_key, (0.0, None))
        if error is not None and self._clock() < until:
            raise error
        try:
            return self._call(DECRYPT, partial(self._service.decrypt, str(uuid.uuid4()), envelope.source))
        except EncryptionError as refused:
            if len(self._failed) >= KNOWN_MAX:
                self._failed.clear()
            found = type(refused)(f"failed to decrypt DEK, error: {refused}")
            found.code = refused.code
            self._failed[envelope.source_key] = self._clock() + _FAILED_S, found
            raise found from None

    def _call(self, method: Method, call: Callable[[], _Response]) -> _Response:
        """Call the plug-in and measure the call. Blocks."""
        began, failure = time.perf_counter(), None
        try:
            return call()
        except EncryptionError as error:
            failure = error
            raise
        finally:
            self._measures.called(self.name, method.path, time.perf_counter() - began, failure)

    def _cache_decrypted(self, envelope: Envelope, plaintext: bytes) -> Transformer:
        transformer = transformer_of(envelope.source_type, plaintext)
        self._cache(envelope.source_key, transformer)
        return transformer

    def _cache(self, source: SourceKey, transformer: Transformer) -> None:
        if source not in self._known:
            if len(self._known) >= KNOWN_MAX:
                del self._known[next(iter(self._known))]
            self._known[source] = transformer

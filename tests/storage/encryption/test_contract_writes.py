"""The Store's contract (writes) holds with encryption between."""

from tests.storage.test_contract_writes import *  # noqa: F403  # the same tests, on another store

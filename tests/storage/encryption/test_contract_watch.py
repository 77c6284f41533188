"""The Store's contract (watch) holds with encryption between."""

from tests.storage.test_contract_watch import *  # noqa: F403  # the same tests, on another store

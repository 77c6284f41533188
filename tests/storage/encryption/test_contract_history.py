"""The Store's contract (history) holds with encryption between."""

from tests.storage.test_contract_history import *  # noqa: F403  # the same tests, on another store

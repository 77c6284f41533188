"""For all tests."""

import gc


def pytest_collection_finish() -> None:
    """What was loaded to run thousands of tests stays: the collector need not look at it between them."""
    gc.collect()
    gc.freeze()

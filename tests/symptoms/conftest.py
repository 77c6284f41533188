"""Tests in the folders of symptoms fail, as the page shows: only the page's commands run them."""

collect_ignore_glob = ["*/test_*.py"]

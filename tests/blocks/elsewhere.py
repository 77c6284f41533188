"""Tests that run blocks of documents by their own means: document → language → test file below `tests/`."""

from collections.abc import Mapping
from typing import Final

from tests.blocks.document import INDENTED, documents
from tests.blocks.translated import TRANSLATIONS

ELSEWHERE: Final[Mapping[str, Mapping[str, str]]] = {
    "ARCHITECTURE.md": {"text": "style/test_layers.py"},
    "docs/faults.md": {
        "python": "testing/explore/test_faults_guide.py",
        "yaml": "testing/explore/test_faults_guide.py",
        INDENTED: "testing/explore/test_faults_guide.py",
    },
    "docs/generated-objects.md": {
        "python": "testing/generated/test_guide.py",
        INDENTED: "testing/generated/test_guide.py",
    },
    "docs/migrating-from-kopf.md": {"python": "testing/test_kopf_pairs.py"},
    "docs/migrating-from-kopfrunner.md": {"python": "testing/plugin/test_kopf_guide.py"},
    "docs/operator-caches.md": {"python": "operator/test_caches_page.py"},
    "docs/operator-clusters.md": {"python": "operator/clusters/test_page.py"},
    "docs/operator-deployment.md": {"yaml": "operator/process/test_deployment_page.py"},
    "docs/operator-events.md": {"python": "operator/test_pages.py"},
    "docs/operator-process.md": {"python": "operator/process/test_page.py"},
    "docs/operator-webhooks.md": {"python": "operator/test_pages.py"},
    "docs/operators.md": {"python": "operator/test_guide.py", "yaml": "operator/test_guide.py"},
    "docs/projects.md": {"toml": "project/bundle/test_page.py"},
    "docs/recipes.md": {
        "python": "recipes/test_recipes.py",
        "diff": "recipes/test_recipes.py",
        "sh": "recipes/test_recipes.py",
    },
    "docs/snapshots.md": {"python": "storage/snapshot/test_documented.py"},
    "docs/testing-tutorial.md": {
        "python": "testing/plugin/test_six_steps.py",
        "yaml": "testing/plugin/test_six_steps.py",
        INDENTED: "testing/plugin/test_six_steps.py",
    },
    "docs/testing.md": {"python": "testing/plugin/test_tutorial.py"},
}

OWN_PAGES: Final[Mapping[str, str]] = {
    "docs/from-zero-to-a-released-operator.md": "journeys/06-from-zero-to-a-released-operator.md",
    "docs/when-it-goes-wrong.md": "symptoms/page.py",
    **{each: "style/test_reference.py" for each in documents() if each.startswith("docs/reference/")},
    **{each: "reading/test_experiments.py" for each in documents() if each.startswith("docs/reading/")},
    **dict.fromkeys(TRANSLATIONS, "blocks/test_translated.py"),
}
"""Documents of which all blocks run in another test."""

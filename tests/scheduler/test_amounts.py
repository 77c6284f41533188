"""Amounts of Pods and Nodes as integers of 64 bits."""

import msgspec
import numpy as np

from sampan.scheduler.amounts import amount, amounts, pod_requests
from sampan.scheduler.views import PodSpec


def test_sums_of_huge_requests_fit_into_64_bits() -> None:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1e999999999", "memory": "9Ei"}}}
    spec = msgspec.convert({"containers": [container] * 50, "overhead": {"cpu": "1e99"}}, PodSpec)
    requested = np.array(list(pod_requests(spec).values()), dtype=np.int64)
    assert (requested * 100 > 0).all()


def test_a_huge_request_fits_a_huge_node() -> None:
    assert amounts({"memory": "1e999999999"})["memory"] == amount("memory", "1e99")

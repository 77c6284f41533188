"""Ranges of Pod addresses, from the options of kube-controller-manager."""

import pytest

from sampan.app.controller_manager.cidr_settings import NodeCidrSettings
from sampan.component_base.pod_ranges import PodRange

BOTH = ("10.0.0.0/16", "fd00:1::/48")


def test_each_family_has_its_own_default_size() -> None:
    assert NodeCidrSettings(cluster_cidr=BOTH).resolved() == (PodRange(BOTH[0], 24), PodRange(BOTH[1], 64))


def test_the_order_of_the_families_is_kept() -> None:
    ranges = NodeCidrSettings(cluster_cidr=BOTH[::-1], node_cidr_mask_size_ipv4=26, node_cidr_mask_size_ipv6=80)
    assert ranges.resolved() == (PodRange(BOTH[1], 80), PodRange(BOTH[0], 26))


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (NodeCidrSettings(cluster_cidr=(*BOTH, "10.1.0.0/16")), "must not contain more than two entries"),
        (NodeCidrSettings(cluster_cidr=("fd00::/48", "fd01::/48")), "two entries must be of different IP families"),
        (NodeCidrSettings(cluster_cidr=BOTH, node_cidr_mask_size=25), "use --node-cidr-mask-size-ipv4 and"),
        (NodeCidrSettings(node_cidr_mask_size=25, node_cidr_mask_size_ipv4=25), "without --node-cidr-mask-size"),
        (NodeCidrSettings(cluster_cidr=BOTH, node_cidr_mask_size_ipv6=40), r"/40 \(--node-cidr-mask-size-ipv6\)"),
        (NodeCidrSettings(cluster_cidr=("10.0.0.1/16",)), "--cluster-cidr: 10.0.0.1/16 has host bits set"),
    ],
    ids=["three ranges", "one family", "one size for two families", "two sizes", "size does not fit", "host bits"],
)
def test_settings_that_do_not_fit_are_refused(settings: NodeCidrSettings, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        settings.resolved()

"""Service proxy of a node: turns Services and EndpointSlices into nftables rules, as kube-proxy does.

The model performs no I/O: `views` -> `service_ports`, `endpoints` -> `selection` -> `rules` -> `table`. `proxy` follows
the cluster and writes one transaction for each change through `nft`.
"""

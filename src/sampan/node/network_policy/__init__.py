"""NetworkPolicies, enforced by the node of the selected Pods with rules of nftables."""

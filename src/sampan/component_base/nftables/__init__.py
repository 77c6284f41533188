"""nftables for control loops: transactions, tables made of fragments, and changes that other programs make."""

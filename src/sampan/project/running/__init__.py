"""An operator in this process, against a server in memory or a cluster, loaded again after each change."""

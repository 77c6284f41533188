"""Which resources there are, told to clients: the legacy documents and the aggregated one."""

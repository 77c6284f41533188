"""Discovery: lists the served resources, in the legacy and the aggregated documents."""

"""CustomResourceDefinitions: how a declared type becomes a served resource."""

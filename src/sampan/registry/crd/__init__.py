"""CustomResourceDefinitions: turn a declared type into a served resource."""

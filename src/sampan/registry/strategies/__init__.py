"""The strategies of the built-in resources, one folder per API group."""

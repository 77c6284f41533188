"""Tests of `sampan deploy` and `sampan undeploy`."""

"""The operator captains."""

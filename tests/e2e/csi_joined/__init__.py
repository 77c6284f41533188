"""Volumes on a node that joined with a token: the Node authorizer and NodeRestriction limit its agent."""

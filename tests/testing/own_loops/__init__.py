"""Exploration of the built-in control loops: the operator of each scenario is one of them."""

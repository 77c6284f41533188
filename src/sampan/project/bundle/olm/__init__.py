"""Bundle of an operator for the Operator Lifecycle Manager (OLM), in the format registry+v1."""

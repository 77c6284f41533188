"""Plugin framework: extension points, the cycle of one Pod, and the diagnosis if no Node is feasible."""

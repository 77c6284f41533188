"""Making room: which Pods of lower priority must go so that one of higher priority fits."""

"""Faults of a trial: another client, an absent object, a broken body, an unreachable server."""

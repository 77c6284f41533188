"""Tunnels of a node to the API servers: `agent.py` opens them, `targets.py` decides where their streams may lead."""

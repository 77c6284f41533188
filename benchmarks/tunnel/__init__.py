"""Tunnels of nodes: latency, throughput and memory."""

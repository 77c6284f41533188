"""Eviction: a node under pressure stops Pods before the kernel kills their processes."""

"""Bounds of HTTP/2 connections, around the h2 library: frames in a turn of the event loop, control frames, HPACK."""

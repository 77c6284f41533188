"""Volumes of Pods: directories that containers see."""

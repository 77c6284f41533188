"""Volumes of Pods: directories and files that containers mount."""

"""The frame that plugins work in: extension points, the cycle of one Pod, what is told when no Node is left."""

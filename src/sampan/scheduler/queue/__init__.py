"""Queue of the Pods without a Node, in the order of scheduling attempts."""

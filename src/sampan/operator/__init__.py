"""The toolkit for control loops: queues, controllers, managers, and all that an operator needs around them."""

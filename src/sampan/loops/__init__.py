"""What all control loops share: their context, the built-in resources, and views of what there is much of."""

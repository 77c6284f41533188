"""What a container finds in its environment."""

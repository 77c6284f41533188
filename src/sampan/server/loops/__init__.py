"""Start-up steps and loops that keep the objects which the server itself owns."""

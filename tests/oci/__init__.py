"""Images: layers, configuration, layouts, registries."""

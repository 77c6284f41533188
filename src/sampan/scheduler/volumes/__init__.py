"""Claims, volumes and classes: their restrictions of the Nodes on which a Pod can run."""

"""Scientific machine learning on one definition of a PDE: solved, learned, probed and certified."""

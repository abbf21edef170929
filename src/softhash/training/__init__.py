"""From labels to a trained network: recipes, methods, one loop."""

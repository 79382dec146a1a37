"""All cells in one request, and the look at what came out."""

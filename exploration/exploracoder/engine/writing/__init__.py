"""Writes all cells in one request, and looks at the results."""

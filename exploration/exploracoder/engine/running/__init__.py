"""Cells and candidates in branches: tried, mended without the model, chosen, gone back from."""

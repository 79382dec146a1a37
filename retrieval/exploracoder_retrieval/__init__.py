"""Docs in, ranked APIs out."""

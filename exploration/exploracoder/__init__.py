"""Explores a library that a language model does not know. Importing this does nothing slow."""

__version__ = "0.1.0"

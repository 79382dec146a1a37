"""Reads code, replies, tasks and docs; nothing here asks a model or runs anything."""

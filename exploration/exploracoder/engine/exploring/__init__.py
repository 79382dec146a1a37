"""Explores one step at a time: docs, parallel candidates, repairs, backtracking."""

"""Runs cells and candidates in branches: tries, mends without the model, chooses, goes back."""

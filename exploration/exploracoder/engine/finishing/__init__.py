"""The solution: composed or written from what ran, run in a fresh state, judged."""

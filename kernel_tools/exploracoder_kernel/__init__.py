"""Everything that runs code."""

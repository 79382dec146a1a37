"""Tables, pictures and pages of what was run."""

"""Ways out of the sandbox, and ways around it, that once were open: each is tried again."""

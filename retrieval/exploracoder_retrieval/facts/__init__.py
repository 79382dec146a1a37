"""What Python files say of modules, classes and functions: read as text, and never run."""

"""Facts about modules, classes and functions: read from Python files as text, never run."""

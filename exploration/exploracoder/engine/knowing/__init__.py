"""What is known about the libraries, and which part of it a question needs."""

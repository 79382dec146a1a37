"""What is known of the libraries, and which of it a question needs."""

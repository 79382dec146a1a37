"""Tasks to write a class again, made of repositories that have it and their own tests."""

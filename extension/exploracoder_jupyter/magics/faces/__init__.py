"""The faces of a page: plain text, HTML, and a terminal."""

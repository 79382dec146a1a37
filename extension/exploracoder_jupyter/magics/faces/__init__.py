"""The renderings of a page: plain text, HTML, and a terminal."""

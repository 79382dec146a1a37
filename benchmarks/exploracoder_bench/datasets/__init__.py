"""Problems in the forms in which they are published, and in one's own."""

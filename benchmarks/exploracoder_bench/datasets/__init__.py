"""Problems in their published formats, and in the user's own."""

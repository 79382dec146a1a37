"""Tasks to rewrite a class, made from repositories that contain it and from their own tests."""

assert title == "Book a table", title
assert fields == ["guests", "day", "phone"], fields

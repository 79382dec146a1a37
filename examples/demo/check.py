assert title == "Reading lamp", title
assert price == 12.5, price
assert notes == "## Delivery\n\nWithin **two** days, see [terms](/terms).", notes

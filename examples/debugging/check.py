assert cells == ["12", "08:05", "7", "08:20"], cells
assert links == ["/harbour", "/market"], links
assert notice == "Changes at the [harbour](/harbour), [market](/market).", notice

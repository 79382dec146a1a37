assert [cup.split()[3] for cup in cups] == ["sencha", "oolong", "assam"]
assert cups[0] == "750 ml of sencha at 95 °C"
assert longest == "assam"
assert minutes == 11.6

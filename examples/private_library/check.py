assert peak.time == "08:00", peak
assert floods == 3, floods
assert table.splitlines()[:3] == ["| time | level |", "| --- | --- |", "| 05:00 | 1.35 |"], table

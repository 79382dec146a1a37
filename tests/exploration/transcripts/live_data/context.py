import kettle

log = kettle.read_log(
    """
    22:15 240 100.1 1.20
    05:30 120 98.7 0.50
    06:00 90 - 0.30
    07:45 180 99.8 0.90
    13:20 75 88.0 0.25
    14:00 300 100.0 1.70
    """
)
tariff = kettle.Tariff(day=32.4, night=21.6)
shifts = [
    {"name": "Ada", "from": "05:00", "until": "06:00"},
    {"name": "Ben", "from": "06:00", "until": "10:00"},
    {"name": "Cleo", "from": "10:00", "until": "12:30"},
    {"name": "Dora", "from": "12:30", "until": "14:00"},
    {"name": "Ben", "from": "21:00", "until": "23:00"},
]

page = """
<html><body>
<table class="timetable">
  <tr><th>Line</th><th>Leaves</th></tr>
  <tr><td>12</td><td>08:05</td></tr>
  <tr><td>7</td><td>08:20</td></tr>
</table>
<p class="notice">Changes at the <a href="/harbour">harbour</a>, <a href="/market">market</a>.</p>
</body></html>
"""

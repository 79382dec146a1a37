page = """
<html><body>
<h1>Book a table</h1>
<form action="/book">
  <input name="guests" type="number"> <input name="day" type="date"> <input name="phone" type="tel">
</form>
</body></html>
"""

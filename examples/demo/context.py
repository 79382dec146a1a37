page = """
<html><body>
<article class="product">
  <h1 class="title">Reading lamp</h1>
  <p class="price">12.50</p>
  <div class="notes"><h2>Delivery</h2><p>Within <b>two</b> days, see <a href="/terms">terms</a>.</p></div>
</article>
</body></html>
"""

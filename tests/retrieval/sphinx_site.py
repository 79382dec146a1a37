"""A small Sphinx site of an invented library, ``brew``."""

from __future__ import annotations

from collections.abc import Mapping

import sphobjinv

# As Sphinx 8 writes it, without the frame of the page.
API_PAGE = """<!DOCTYPE html><html><body><nav>brew.nav</nav><div role="main"><section id="api">
<h1>API<a class="headerlink" href="#api">¶</a></h1>
<p>Begin with <code class="docutils literal"><span class="pre">brew.steep</span></code>.</p>
<script>document.title = "ran"</script>
<dl class="py function">
<dt class="sig sig-object py" id="brew.steep"><span class="sig-prename descclassname"><span
class="pre">brew.</span></span><span class="sig-name descname"><span class="pre">steep</span></span>
<span class="sig-paren">(</span><em class="sig-param"><span class="n">leaves</span></em>,
<em class="sig-param"><span class="n">minutes</span><span class="o">=</span><span>3</span></em>
<span class="sig-paren">)</span><a class="reference internal" href="_modules/brew.html"><span
class="viewcode-link"><span class="pre">[source]</span></span></a><a class="headerlink"
href="#brew.steep">¶</a></dt>
<dd><p>Steep the <em>leaves</em>. Then wait.</p>
<div class="highlight"><pre>&gt;&gt;&gt; steep("oolong")
'tea'
</pre></div></dd></dl>
<dl class="py class">
<dt class="sig sig-object py" id="brew.Pot"><em>class </em>brew.Pot(size)</dt>
<dd><p>Bases: <code>object</code></p>
<p>A pot.</p>
<dl class="py method"><dt class="sig sig-object py" id="brew.Pot.pour">pour(cups) → None</dt>
<dd><p>Pour it out.</p></dd></dl>
<dl class="py property"><dt class="sig sig-object py" id="brew.Pot.p"><em><span
class="pre">property</span> </em><span class="sig-name descname"><span class="pre">p</span></span>
<em class="property"><span class="p">:</span> <span class="pre">float</span></em></dt>
<dd><p>How full it is.</p></dd></dl></dd></dl></section>
<section id="guide"><h2>Two cups</h2><div class="highlight"><pre>import brew
pot = brew.Pot(3)
pot.pour(2)
</pre></div></section></div></body></html>"""
NAMES = {
    "brew.steep": ("function", "api.html#$"),
    "brew.Pot": ("class", "api.html#$"),
    "brew.Pot.pour": ("method", "api.html#$"),
    "brew.LIMIT": ("data", "missing.html#$"),
    "brew._secret": ("function", "api.html#$"),
    "other.thing": ("function", "api.html#$"),
}


def inventory(names: Mapping[str, tuple[str, str]] = NAMES) -> bytes:
    """Its ``objects.inv``, of names with role and page."""
    site_inventory = sphobjinv.Inventory()
    site_inventory.project, site_inventory.version = "Brew", "2.1"
    for name, (role, uri) in names.items():
        site_inventory.objects.append(
            sphobjinv.DataObjStr(
                name=name, domain="py", role=role, priority="1", uri=uri, dispname="-"
            )
        )
    content: bytes = sphobjinv.compress(site_inventory.data_file(contract=True))
    return content

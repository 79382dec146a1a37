"""How Sphinx builds the site. `make docs` runs it; every warning, such as a dead link, is an error.

The pages are Markdown that reads well in the repository, too. The built site asks no other host
for anything: the theme has its own styles and scripts, and the search runs in the browser.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

project = "ExploraCoder"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["README.md"]

# Headings have the anchors that they have on a forge.
myst_heading_anchors = 4

# In docstrings `name` links to the object of that name, if it is on a page.
default_role = "py:obj"
autodoc_member_order = "bysource"
maximum_signature_line_length = 88
# Dashes only: quotes in the text may be code.
smartquotes_action = "D"

html_theme = "furo"
html_title = "ExploraCoder"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False


def add_dark_pictures(_: Sphinx, page: nodes.document) -> None:
    """Beside each picture `…-light.png` put its `…-dark.png`, which a dark page shows instead."""
    for light in list(page.findall(nodes.image)):
        if light["uri"].endswith("-light.png"):
            dark = light.copy()
            dark["uri"] = light["uri"].replace("-light.png", "-dark.png")
            # The theme's classes.
            light["classes"].append("only-light")
            dark["classes"].append("only-dark")
            light.parent.insert(light.parent.index(light) + 1, dark)


def setup(app: Sphinx) -> None:
    """Called by Sphinx. Pictures are added before it collects them, at priority 500."""
    app.connect("doctree-read", add_dark_pictures, priority=400)

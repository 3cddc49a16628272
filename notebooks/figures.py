"""Figures in the documentation: a click opens the picture in its own size."""

import re

FIGURE = re.compile(r'(<img [^>]*src="([^"]*images/[^"]*)"[^>]*/?>)')


def on_page_content(html, **_):
    """Called by mkdocs for every page."""
    return FIGURE.sub(r'<a class="figure" href="\2">\1</a>', html)

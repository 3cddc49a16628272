"""Pages of the log: what is known is open, every entry below it folded beside its length."""

import re

ENTRY, TAG = re.compile(r"(?=<h2 )"), re.compile(r"<[^>]+>")


def on_page_content(html, page, **_):
    """Called by mkdocs for every page."""
    if not page.file.src_uri.startswith("log/"):
        return html
    answer, *entries = ENTRY.split(html)
    return answer + "".join(map(folded, entries))


def folded(entry):
    """An entry that opens by a click on its heading."""
    heading, body = entry.split("</h2>", 1)
    words = len(TAG.sub(" ", body).split())
    return (
        f'<details class="entry"><summary>{heading}</h2> <small>{words} words</small></summary>'
        f"{body}</details>"
    )

"""Split rows into pages."""


def pages(rows, size):
    """Return the rows in lists of at most `size`."""
    return [rows[i : i + size] for i in range(0, len(rows), size)]


def page_at(rows, size, number):
    return pages(rows, size)[number - 1]

"""Split rows into pages."""


def pages(rows, size):
    """Return the rows in lists of at most `size`."""
    return [rows[i : i + size] for i in range(0, len(rows), size)]

"""Imports product catalogues that suppliers send."""

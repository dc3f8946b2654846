"""Delivers files from a spool folder to a remote archive."""

"""Hands documents of a customer portal out to browsers."""

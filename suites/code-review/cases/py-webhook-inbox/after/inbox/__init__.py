"""Receives deliveries of a payment provider and books them."""

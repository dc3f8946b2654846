"""Reports on the tickets of a help desk."""

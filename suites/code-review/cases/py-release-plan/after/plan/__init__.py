"""Plans of releases: which team does what, and when."""

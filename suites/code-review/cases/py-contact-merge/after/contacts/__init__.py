"""Address books of a company, merged from what its offices send."""

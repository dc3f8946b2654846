"""Labels for the parcels of a shift."""

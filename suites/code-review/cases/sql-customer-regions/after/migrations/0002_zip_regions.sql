BEGIN;

-- The first two digits of a zip code decide on the region.
CREATE TABLE zip_regions (
    digits TEXT PRIMARY KEY,
    region TEXT NOT NULL
);

INSERT INTO zip_regions (digits, region)
VALUES ('10', 'north'), ('20', 'north'), ('50', 'west'), ('70', 'south'), ('80', 'south');

COMMIT;

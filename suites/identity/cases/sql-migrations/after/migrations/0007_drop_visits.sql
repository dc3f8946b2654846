-- Visits are counted by the log since spring.
DROP TABLE visits;

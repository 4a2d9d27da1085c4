"""What a card is: the table of known ones, types and their policies, drivers, benchmarks that are on record."""

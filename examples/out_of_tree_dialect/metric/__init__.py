"""A dialect of distances between vectors, for transom."""

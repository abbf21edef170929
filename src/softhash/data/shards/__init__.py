"""Many pictures in one file: tar archives, Parquet and Arrow tables; and codes as Parquet."""

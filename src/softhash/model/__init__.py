"""What a model is made of on disk and in memory; `softhash.hasher` puts it together."""

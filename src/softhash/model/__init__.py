"""What a model is made of on disk and in memory; `softhash.model.hasher` puts it together."""

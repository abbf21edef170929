"""Find pictures by what is in them: binary codes whose Hamming distance follows shared labels."""

__version__ = "0.1.0.dev0"

"""From codes to numbers: exact metrics of rankings that are full of ties."""

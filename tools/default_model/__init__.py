"""How the model that comes with softhash is made; see `__main__`."""

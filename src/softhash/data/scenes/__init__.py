"""The built-in collection: landscapes drawn by code, labelled by what is visible in them.

Two pictures that share sky, bridge and water should rank closer than two that share only sky: that
is what a search by several labels is about, and these pictures let anyone try it in seconds. They
are drawn, never real.

>>> from softhash.data import scenes
>>> picture, labels = scenes.draw(5)
>>> picture.size
(128, 128)
>>> sorted(labels)
['house', 'sheep', 'sky', 'tree']
"""

from softhash.data.scenes.collection import built_in, write
from softhash.data.scenes.composition import CLASSES, draw

__all__ = ["CLASSES", "built_in", "draw", "write"]

"""The lists of VOC's ImageSets/Main, as HyP² (Xu et al., ACM Multimedia 2022) uses them."""

import numpy as np

from softhash.data.splits.draws import Drawn, Pool, minus
from softhash.errors import UsageError


def voc_val(pool: Pool) -> Drawn:
    """VOC's own lists as in HyP²: train is the train set and the database too, val the queries.

    With VOC2012 these are 5,717 and 5,823 pictures. The authors' code (JerryXu0129/HyP2-Loss,
    config.py and dataset.py) labels a picture by all objects of its XML file, difficult ones too,
    as the format `voc` does unless told otherwise. Their VOC2007, trainval and test, is `given`.
    """
    parts = pool.images.partition or {}
    if not {"train", "val"} <= parts.keys():
        raise UsageError(
            "protocol 'voc-val' needs ImageSets/Main/train.txt and val.txt",
            "use 'given' or 'random'",
        )
    bare = pool.images.without_labels
    query = parts["val"][~bare[parts["val"]]]
    database = minus(parts["train"], parts["val"])
    train = database[~bare[database]]
    for name, part in (("train", train), ("val", query)):
        if not part.size:
            raise UsageError(f"{name}.txt names no picture with labels that is its own")
    used = pool.among(np.union1d(query, database))
    notes = {
        "train pictures are the database too, as in HyP²": len(train),
        "pictures of train.txt are in val.txt too; they are queries alone": (
            len(parts["train"]) - len(database)
        ),
        "pictures outside these two lists, or of val.txt without labels, are left out": (
            len(pool.order) - len(used.order)
        ),
    }
    lines = tuple(f"{number:,} {what}" for what, number in notes.items() if number)
    return Drawn(used, train, query, database, lines)

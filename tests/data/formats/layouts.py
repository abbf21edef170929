"""Small collections in the layouts in which they are really handed out."""

import io
import json
from pathlib import Path

import numpy as np
from PIL import Image

from softhash.data.formats import mirflickr, nuswide


def put(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def jpeg(*paths: Path) -> None:
    for i, path in enumerate(paths):
        stream = io.BytesIO()
        Image.new("RGB", (16, 12), (i * 20 % 256, 90, 120)).save(stream, "JPEG")
        put(path, stream.getvalue())


def table(root: Path) -> Path:
    jpeg(root / "a.jpg", root / "sub/b.jpg", root / "c.jpg")
    put(root / "metadata.csv", "file_name,labels\na.jpg,sky;sea\nsub/b.jpg,sky\nc.jpg,\n")
    return root


def jsonl(root: Path) -> Path:
    jpeg(root / "a.jpg", root / "b.jpg")
    rows = [{"file_name": "a.jpg", "labels": ["sky", "sea"]}, {"file_name": "b.jpg", "labels": []}]
    put(root / "metadata.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    return root


def folder(root: Path) -> Path:
    jpeg(
        root / "b.JPG", root / "a/z.jpeg", root / "a/y.png", root / ".hidden/x.jpg", root / ".h.jpg"
    )
    put(root / "read me.txt", "text")
    return root


def voc_xml(*objects: tuple[str, int]) -> str:
    things = "".join(
        f"<object><name>{name}</name><difficult>{difficult}</difficult>"
        "<part><name>head</name></part></object>"
        for name, difficult in objects
    )
    return f"<annotation><filename>x.jpg</filename>{things}</annotation>"


def voc(root: Path, year: int = 2012) -> Path:
    home = root / "VOCdevkit" / f"VOC{year}"
    objects = {
        "2007_000027": [("person", 0)],
        "2008_000002": [("tvmonitor", 0), ("person", 1)],
        "2008_000003": [("train", 0), ("person", 0), ("person", 0)],
        "2009_000001": [],
    }
    for stem, things in objects.items():
        put(home / "Annotations" / f"{stem}.xml", voc_xml(*things))
        jpeg(home / "JPEGImages" / f"{stem}.jpg")
    main = home / "ImageSets" / "Main"
    parts = {"train": ["2008_000002"], "val": ["2008_000003"]}
    parts["trainval"] = parts["train"] + parts["val"]
    from softhash.data.formats.voc import CLASSES

    for part, stems in parts.items():
        put(main / f"{part}.txt", "".join(f"{stem}\n" for stem in stems))
        for name in CLASSES:
            lines = ""
            for stem in stems:
                marks = [1 - difficult for thing, difficult in objects[stem] if thing == name]
                lines += f"{stem} {max(marks, default=-1):2d}\n"
            put(main / f"{name}_{part}.txt", lines)
    return root


def instances(names: list[str], pairs: list[tuple[int, int]]) -> dict:
    return {
        "images": [{"id": i + 10, "file_name": name} for i, name in enumerate(names)],
        "annotations": [
            {"id": k, "image_id": i + 10, "category_id": c, "bbox": [0, 0, 1, 1]}
            for k, (i, c) in enumerate(pairs)
        ],
        "categories": [{"id": 18, "name": "dog"}, {"id": 1, "name": "person"}],
    }


def coco(root: Path, year: int = 2017) -> Path:
    for part, pairs in {"train": [(0, 1), (0, 18), (0, 18)], "val": [(0, 18)]}.items():
        names = [f"{part}-{i}.jpg" for i in range(2)]
        jpeg(*(root / f"{part}{year}" / name for name in names))
        text = json.dumps(instances(names, pairs))
        put(root / "annotations" / f"instances_{part}{year}.json", text)
    return root


def mir(root: Path) -> Path:
    jpeg(*(root / f"im{i}.jpg" for i in (1, 2, 10)))
    for name in mirflickr.POTENTIAL + mirflickr.RELEVANT:
        put(root / "annotations" / f"{name}.txt", "")
    put(root / "annotations/sky.txt", "1\n10\n")
    put(root / "annotations/tree.txt", "1\r\n")
    put(root / "annotations/tree_r1.txt", "1\n")
    put(root / "annotations/README.txt", "about\n")
    return root


NUS_NAMES = ["actor/0001_2124494179.jpg", "actor/0002_174174086.jpg", "zoo/0001_7.jpg"]


def nus(root: Path, spell=lambda name: f"Flickr/{name}") -> Path:
    jpeg(*(root / spell(name) for name in NUS_NAMES[:2]))
    put(root / "ImageList/ImageList.txt", "".join(n.replace("/", "\\") + "\r\n" for n in NUS_NAMES))
    put(root / "ImageList/TrainImagelist.txt", "actor\\0001_2124494179.jpg\n")
    put(root / "ImageList/TestImagelist.txt", "actor\\0002_174174086.jpg\nzoo\\0001_7.jpg\n")
    for name in [*nuswide.FREQUENT, "zebra"]:
        bits = {"sky": "1\n1\n1\n", "zebra": "0\n1\n0\n"}.get(name, "0\n0\n0\n")
        put(root / "Groundtruth/AllLabels" / f"Labels_{name}.txt", bits)
    return root


def mat(matrix: np.ndarray, **options) -> bytes:
    """MATLAB's bytes as scipy writes them: the oracle of our reader."""
    from scipy.io import savemat

    cell = np.empty((1, 2), dtype=object)
    cell[0, 0] = cell[0, 1] = matrix
    stream = io.BytesIO()
    savemat(stream, {"I_z": cell}, do_compression=True, **options)
    return stream.getvalue()


def iapr(root: Path) -> Path:
    jpeg(*(root / "images/00" / f"{i}.jpg" for i in (25, 26, 28)))
    put(root / "iaprtc12_dictionary.txt", "adult\nairplane\n")
    put(root / "iapr_train_list.txt", "00/25\n00/28\n")
    put(root / "iapr_test_list.txt", "00/26\n")
    put(root / "IAPRTC-12_TrainLabels.mat", mat(np.array([[1, 0], [1, 1]], np.uint8)))
    put(root / "IAPRTC-12_TestLabels.mat", mat(np.array([[0.0, 1.0]])))
    return root


def saiapr(root: Path) -> Path:
    home = root / "benchmark"
    jpeg(*(home / "saiapr_tc-12/00/images" / f"{i}.jpg" for i in (25, 112)))
    jpeg(home / "saiapr_tc-12/01/images/1000.jpg")
    put(home / "wlist.txt", "1\tair hostess\n2\tsky-blue\n30\ttree\n")
    put(home / "saiapr_tc-12/00/labels.txt", "25\t1\t2\n25\t2\t30\n25\t3\t30\n")
    put(home / "saiapr_tc-12/01/labels.txt", "1000 1 1\n")
    return root


def lists(root: Path) -> Path:
    jpeg(*(root / "images" / f"{i}.jpg" for i in range(4)))
    put(root / "train.txt", "images/0.jpg 1 0 1\nimages/1.jpg 0 1 0\n")
    put(root / "test.txt", "images/2.jpg 0 0 1\n")
    put(root / "database.txt", "images/0.jpg 1 0 1\nimages/3.jpg 0 0 0\n")
    return root


def tasks() -> list[dict]:
    def result(**value):
        return {"type": next(iter(value)), "value": value}

    return [
        {
            "data": {"image": "/data/upload/1/3f2a9c01-cat.jpg"},
            "annotations": [
                {"result": [result(choices=["indoor", "cat"]), result(rectanglelabels=["cat"])]},
                {"result": [result(choices=["wrong"])], "was_cancelled": True},
            ],
            "predictions": [{"result": [result(choices=["guess"])]}],
        },
        {
            "data": {"image": "/data/local-files/?d=photos/my%20dog.jpg"},
            "annotations": [{"result": [result(taxonomy=[["animal", "dog"]])]}],
        },
        {"data": {"image": "s3://bucket/photos/none.jpg"}, "annotations": []},
    ]


def labelstudio(root: Path) -> Path:
    jpeg(root / "cat.jpg", root / "photos/my dog.jpg", root / "images/none.jpg")
    put(root / "tasks.json", json.dumps(tasks()))
    return root


LAYOUTS = {
    "table": table,
    "folder": folder,
    "voc": voc,
    "coco": coco,
    "mirflickr": mir,
    "nuswide": nus,
    "iaprtc12": iapr,
    "saiapr": saiapr,
    "lists": lists,
    "labelstudio": labelstudio,
}

"""PASCAL VOC: Annotations/*.xml and JPEGImages/ in VOCdevkit/VOC2012 or VOC2007.

The path may be the year's folder, VOCdevkit, or the folder around it. Labels come from the objects
in the XML files, which cover every picture, or from ImageSets/Main/<class>_<part>.txt (1 present, 0
only difficult ones, -1 absent). The partition is that of ImageSets/Main. Any collection in this
layout works: the twenty classes are the columns as long as no other name occurs.
"""

from pathlib import Path
from typing import Literal
from xml.etree.ElementTree import Element

import defusedxml.ElementTree as ElementTree  # type: ignore[import-untyped]

from softhash.data.formats.assembly import assemble, named_labels, one_of
from softhash.data.image_set import ImageSet
from softhash.data.listing import list_folder
from softhash.data.names import several
from softhash.data.text_files import read_bytes, read_lines
from softhash.errors import InputError, UsageError

CLASSES = (
    "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow",
    "diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train",
    "tvmonitor",
)  # fmt: skip
YEARS = range(2005, 2013)
PARTS = ("train", "val", "trainval", "test")


def matches(root: Path) -> bool:
    """Return whether a year's folder is there."""
    return bool(_year_folders(root))


def read(
    root: Path,
    *,
    difficult: Literal["keep", "drop"] = "keep",
    source: Literal["xml", "main"] = "xml",
) -> ImageSet:
    """Read one year.

    Args:
        root: VOC2012, VOCdevkit, or the folder around it.
        difficult: whether objects marked as difficult count.
        source: "xml" for all pictures with annotations, "main" for those of ImageSets/Main.

    """
    one_of("difficult", difficult, ("keep", "drop"))
    one_of("source", source, ("xml", "main"))
    folder = _year_folder(root)
    on_disk = {Path(name).stem: name for name in list_folder(folder / "JPEGImages")}
    parts = _parts(folder / "ImageSets" / "Main")
    keep = difficult == "keep"
    found = _from_xml(folder, keep) if source == "xml" else _from_main(folder, parts, keep)
    if not found:
        raise InputError(f"{folder} has no annotations for source='{source}'")

    stems = sorted(found)
    names = set().union(*found.values())
    labels, classes = named_labels(
        [found[stem] for stem in stems], CLASSES if names <= set(CLASSES) else None
    )
    row = {stem: i for i, stem in enumerate(stems)}
    notes = [
        f"{len(lacking):,} pictures of {part}.txt have no annotation: {several(lacking)}"
        for part, members in parts.items()
        if (lacking := [stem for stem in members if stem not in row])
    ]
    bare = sorted(on_disk.keys() - row.keys())
    if bare:
        notes.append(f"{len(bare):,} pictures without annotation left out: {several(bare)}")
    return assemble(
        folder,
        [f"JPEGImages/{on_disk.get(stem, stem + '.jpg')}" for stem in stems],
        labels,
        classes,
        format="voc",
        partition={
            part: [row[stem] for stem in members if stem in row] for part, members in parts.items()
        }
        or None,
        notes=notes,
    )


def _year_folders(root: Path) -> list[Path]:
    if (root / "Annotations").is_dir() and (root / "JPEGImages").is_dir():
        return [root]
    around = [root, root / "VOCdevkit"]
    years = [folder / f"VOC{year}" for folder in around for year in YEARS]
    return [folder for folder in years if (folder / "Annotations").is_dir()]


def _year_folder(root: Path) -> Path:
    folders = _year_folders(root)
    if not folders:
        raise InputError(f"{root} has no VOC2012 or VOC2007 with Annotations and JPEGImages in it")
    if len(folders) > 1:
        raise UsageError(f"{root} has several years", f"give one of {several(folders)}")
    return folders[0]


def _parts(main: Path) -> dict[str, list[str]]:
    files = {part: main / f"{part}.txt" for part in PARTS}
    return {
        part: [line.split()[0] for _, line in read_lines(file)]
        for part, file in files.items()
        if file.is_file()
    }


def _from_xml(folder: Path, keep_difficult: bool) -> dict[str, set[str]]:
    annotations = folder / "Annotations"
    return {
        name[:-4]: _labels(annotations / name, keep_difficult)
        for name in list_folder(annotations)
        if name.endswith(".xml")
    }


def _labels(path: Path, keep_difficult: bool) -> set[str]:
    """Name the objects of one XML file; document types, and with them entities, are refused."""
    try:
        tree: Element = ElementTree.fromstring(read_bytes(path), forbid_dtd=True)
    except InputError:
        raise
    except (SyntaxError, ValueError, LookupError) as error:
        raise InputError(f"{path} is not the XML of VOC: {error}") from None
    labels = set()
    for thing in tree.iterfind("object"):
        name = (thing.findtext("name") or "").strip()
        if not name:
            raise InputError(f"{path} has an object without a name")
        if keep_difficult or (thing.findtext("difficult") or "0").strip() != "1":
            labels.add(name)
    return labels


def _from_main(folder: Path, parts: dict[str, list[str]], keep: bool) -> dict[str, set[str]]:
    main = folder / "ImageSets" / "Main"
    used = [
        part for part in PARTS if part in parts and (part != "train" or "trainval" not in parts)
    ]
    found: dict[str, set[str]] = {stem: set() for part in used for stem in parts[part]}
    for name in CLASSES:
        for part in used:
            for number, line in read_lines(main / f"{name}_{part}.txt"):
                stem, _, mark = line.partition(" ")
                if stem not in found or mark.strip() not in ("1", "0", "-1"):
                    raise InputError(
                        f"{main / f'{name}_{part}.txt'} line {number} is {line[:60]!r}",
                        f"it should be a picture of {part}.txt and 1, 0 or -1",
                    )
                if mark.strip() == "1" or (keep and mark.strip() == "0"):
                    found[stem].add(name)
    return found

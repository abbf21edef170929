"""Pictures with metadata, as cameras and photo managers write it."""

import io
import struct

from PIL import Image
from PIL.PngImagePlugin import PngInfo
from PIL.TiffImagePlugin import ImageFileDirectory_v2

XMP = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:lr="http://ns.adobe.com/lightroom/1.0/" xmlns:digiKam="http://www.digikam.org/ns/1.0/">
{lists}</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>"""


def xmp(**lists):
    """A block of XMP with lists of keywords: `subject`, `hierarchicalSubject`, `TagsList`."""
    space = {"subject": "dc", "hierarchicalSubject": "lr", "TagsList": "digiKam"}
    text = ""
    for name, words in lists.items():
        items = "".join(f"<rdf:li>{word}</rdf:li>" for word in words)
        text += f"<{space[name]}:{name}><rdf:Bag>{items}</rdf:Bag></{space[name]}:{name}>"
    return XMP.format(lists=text).encode()


def iptc(*words, utf_8=True, encoding="utf-8"):
    """A block of IPTC with keywords, as records of two numbers and a length."""
    records = [(1, 90, b"\x1b%G")] if utf_8 else []
    records += [(2, 25, word.encode(encoding)) for word in words]
    return b"".join(struct.pack(">BBBH", 0x1C, a, b, len(v)) + v for a, b, v in records)


def exif(*, taken=None, make=None, model=None, latitude=None, longitude=None):
    """EXIF data; degrees as ((degrees, minutes, seconds), side)."""
    data = Image.Exif()
    data.update({tag: value for tag, value in ((0x10F, make), (0x110, model)) if value})
    if taken:
        data.get_ifd(0x8769)[0x9003] = taken
    for tag, place in ((1, latitude), (3, longitude)):
        if place:
            data.get_ifd(0x8825).update({tag: place[1], tag + 1: place[0]})
    return data


def photograph(format="JPEG", *, xmp=None, iptc=None, exif=None):
    """The bytes of a picture of 16×12 pixels with these blocks."""
    stream = io.BytesIO()
    options = {"exif": exif.tobytes()} if exif is not None else {}
    if xmp and format == "PNG":
        options["pnginfo"] = PngInfo()
        options["pnginfo"].add_itxt("XML:com.adobe.xmp", xmp.decode())
    elif format == "TIFF" and not exif:
        tags = ImageFileDirectory_v2()
        tags.update({tag: block for tag, block in ((700, xmp), (33723, iptc)) if block})
        tags.tagtype.update({700: 1, 33723: 7})
        options["tiffinfo"] = tags
    elif xmp:
        options["xmp"] = xmp
    Image.new("RGB", (16, 12), (20, 90, 120)).save(stream, format, **options)
    data = stream.getvalue()
    return data[:2] + _photoshop(iptc) + data[2:] if iptc and format == "JPEG" else data


def _photoshop(block):
    """The segment of a JPEG that holds IPTC."""
    resource = b"8BIM" + struct.pack(">HHL", 0x0404, 0, len(block)) + block + bytes(len(block) % 2)
    body = b"Photoshop 3.0\0" + resource
    return b"\xff\xed" + struct.pack(">H", len(body) + 2) + body

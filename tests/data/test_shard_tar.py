"""Tar archives: what `tarfile` writes is read; what is damaged or hostile is refused."""

import io
import tarfile

import pytest
from shard_files import write_tar

from softhash.data.shards import records, tar
from softhash.data.shards.records import Picture, Unusable, read_shard
from softhash.errors import ShardError

FORMATS = (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)


def read(path):
    return list(read_shard(path))


def link(name, to, kind=tarfile.SYMTYPE):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, to
    return info


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_of_tarfile_is_read_as_tarfile_reads_it(tmp_path, format):
    long = "/".join(["a" * 60, "b" * 60, "c" * 30 + ".jpg"])
    members = [("0001.jpg", b"one"), ("0001.json", b"{}"), (long, b"x" * 513), ("sub/2.PNG", b"")]
    path = write_tar(tmp_path / "a.tar", members, format)
    with tarfile.open(path) as archive:
        expected = {one.name: archive.extractfile(one).read() for one in archive}
    found = read(path)
    assert {one.member: one.content for one in found} == {
        name: content for name, content in expected.items() if not name.endswith(".json")
    }
    assert [one.id for one in found] == ["0001", long.removesuffix(".jpg"), "sub/2"]


def test_an_id_is_the_path_up_to_the_first_dot_of_its_last_part(tmp_path):
    path = write_tar(tmp_path / "a.tar", [("./v1.0/7.jpg", b"a"), ("8.seg.png", b"b")])
    assert read(path) == [
        Picture("v1.0/7", "v1.0/7.jpg", b"a"),
        Unusable(
            "8.seg.png",
            f"{path}: 8.seg.png has the extension .seg.png, which is not a picture's",
            "dotted",
        ),
    ]


def test_the_first_of_two_pictures_with_one_id_counts(tmp_path):
    members = [("1.jpg", b"a"), ("1.png", b"b"), ("2.jpg", b"c"), ("1.jpg", b"d")]
    found = read(write_tar(tmp_path / "a.tar", members))
    assert [one.content for one in found if isinstance(one, Picture)] == [b"a", b"c"]
    others = [one for one in found if isinstance(one, Unusable)]
    assert [(one.member, one.kind) for one in others] == [
        ("1.png", "duplicate"),
        ("1.jpg", "duplicate"),
    ]
    assert "1.png has the id 1" in others[0].reason


def test_links_and_names_that_lead_out_are_skipped_and_nothing_is_followed(tmp_path):
    (tmp_path / "secret.jpg").write_bytes(b"secret")
    members = [
        (link("1.jpg", str(tmp_path / "secret.jpg")), b""),
        (link("2.jpg", "1.jpg", tarfile.LNKTYPE), b""),
        ("../secret.jpg", b"c"),
        ("/etc/passwd.jpg", b"d"),
        ("good.jpg", b"e"),
    ]
    *skipped, good = read(write_tar(tmp_path / "a.tar", members))
    assert [one.kind for one in skipped] == ["refused"] * 4
    assert good == Picture("good", "good.jpg", b"e")


def test_a_large_member_is_skipped_without_being_read(tmp_path, monkeypatch):
    monkeypatch.setattr(tar, "MAX_PICTURE_BYTES", 1000)
    path = write_tar(tmp_path / "a.tar", [("1.jpg", b"x" * 1001), ("2.jpg", b"y" * 1000)])
    large, fits = read(path)
    assert (large.kind, fits.id) == ("refused", "2")
    assert "1,001 bytes, more than the limit of 1,000" in large.reason


def test_an_archive_cut_anywhere_is_an_error_and_never_the_end(tmp_path):
    whole = write_tar(tmp_path / "a.tar", [(f"{i}.jpg", bytes([i]) * 700) for i in range(3)])
    data = whole.read_bytes()
    cut = tmp_path / "cut.tar"
    for length in (*range(0, 3 * 1536, 100), 512, 1536, 3 * 1536):
        cut.write_bytes(data[:length])
        with pytest.raises(ShardError, match=r"cut\.tar"):
            read(cut)


def test_a_damaged_header_in_the_middle_is_an_error_where_tarfile_stops(tmp_path):
    path = write_tar(tmp_path / "a.tar", [(f"{i}.jpg", b"x") for i in range(3)])
    data = bytearray(path.read_bytes())
    data[1024 + 10] ^= 1
    path.write_bytes(data)
    with tarfile.open(path) as archive:
        assert len(archive.getnames()) < 3
    with pytest.raises(ShardError, match="is damaged, at byte 1,024"):
        read(path)


def test_what_is_compressed_is_refused(tmp_path):
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("1.jpg"), io.BytesIO())
    with pytest.raises(ShardError, match="is not a tar archive, or is compressed"):
        read(path)


@pytest.mark.parametrize(
    "content",
    [b"99999 path=a.jpg\n", b"8 size=x\n", b"no record", b"0 path=\n", b"12 size=-200\n"],
)
def test_an_extended_header_that_is_wrong_is_refused(tmp_path, content):
    info = tarfile.TarInfo("x")
    info.type = tarfile.XHDTYPE
    path = write_tar(tmp_path / "a.tar", [(info, content), ("1.jpg", b"a")], tarfile.USTAR_FORMAT)
    with pytest.raises(ShardError, match="damaged header"):
        read(path)


def test_an_extended_header_of_any_size_is_not_read_into_memory(tmp_path):
    info = tarfile.TarInfo("x")
    info.type = tarfile.XHDTYPE
    path = write_tar(
        tmp_path / "a.tar", [(info, b"0" * (tar.MAX_HEADER + 1))], tarfile.USTAR_FORMAT
    )
    with pytest.raises(ShardError, match="has a header of 1,048,577 bytes"):
        read(path)


def test_a_shard_has_no_more_pictures_than_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "MAX_PICTURES", 2)
    path = write_tar(tmp_path / "a.tar", [(f"{i}.jpg", b"") for i in range(3)])
    with pytest.raises(ShardError, match="more than 2 pictures"):
        read(path)

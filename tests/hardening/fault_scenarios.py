"""What is done while faults happen, and what must be there afterwards.

A scenario is set up in a folder, acts there with a fault, acts again without one, and is looked
at. Everything but the fault is the same each time, so that what it ends with must be the same too.
"""

import asyncio
import contextlib
import hashlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from softhash.errors import SofthashError

from .samples import encoded, picture, write_model, write_pictures

TOKEN = "a-token-for-the-tests"  # noqa: S105
UPLOADS = range(50, 53)


@dataclass(frozen=True)
class Scenario:
    """A job that faults are put into.

    Attributes:
        name: of the scenario.
        set_up: prepares a folder, without faults.
        act: what is done with a fault; raises SystemExit as commands do.
        again: what is done after it, without one.
        look: returns what is there, as JSON can hold it.
        between: returns what is there before it is done again; see `allowed`.
        allowed: whether what was there before it was done again may be, given what `look` returns
            at the beginning and at the end of a run without a fault.

    """

    name: str
    set_up: Callable[[Path], object]
    act: Callable[[Path], object]
    again: Callable[[Path], object]
    look: Callable[[Path], Any]
    between: Callable[[Path], Any] = lambda folder: None
    allowed: Callable[[Any, Any, Any], bool] = lambda now, first, last: True


def _command(*words: object) -> None:
    """Run softhash as a shell would."""
    from softhash.cli import main

    sys.argv = ["softhash", *map(str, words)]
    main()


def _names(folder: Path) -> list[str]:
    """List all files, but for those that SQLite may leave or take away."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    return sorted(name for name in found if not name.endswith(("-wal", "-shm", ".lock")))


def _index(folder: Path) -> None:
    _command("index", folder / "pictures", "-o", folder / "index", "-m", folder / "model")


def _set_up_create(folder: Path) -> None:
    write_pictures(folder / "pictures", range(6))
    write_model(folder / "model")


def _set_up_update(folder: Path) -> None:
    _set_up_create(folder)
    with contextlib.suppress(SystemExit):
        _index(folder)
    write_pictures(folder / "pictures", range(3, 9))
    for gone in range(3):
        (folder / "pictures" / f"{gone:03}.png").unlink()
    (folder / "pictures" / "004.png").write_bytes(encoded(picture(99), "PNG"))


def _set_up_codes(folder: Path) -> None:
    from softhash.data.shards.code_file import About, write_codes

    for number in range(3):
        codes = np.random.default_rng(number).integers(0, 256, (20, 2), np.uint8)
        with write_codes(folder / f"{number}.parquet", 16) as writer:
            names = [f"{code[0]:02x}/{number}-{i}" for i, code in enumerate(codes)]
            writer.add(names, codes, [""] * len(names))
            writer.finish(About(16, "a" * 64))


def _import(folder: Path) -> None:
    """Add codes as very many are added: names are sorted at the end."""
    from softhash.index import _new_names

    _new_names.FEW = 0
    _command("index", "--codes", folder, "-o", folder / "index")


def _look_import(folder: Path) -> Any:
    from softhash.index import HammingIndex

    items = _items(folder)
    with HammingIndex.open(folder / "index") as index:
        assert len(index.store.find_names([item[0] for item in items])) == len(items)
    return [items, _names(folder)]


def _look_index(folder: Path) -> Any:
    items = _items(folder)
    model = hashlib.sha256((folder / "index/model/model.onnx").read_bytes()).hexdigest()
    return [items, model, _names(folder)]


def _items(folder: Path) -> list[Any]:
    from softhash.index import HammingIndex

    with HammingIndex.open(folder / "index") as index:
        assert index.store.verify() == []
        return sorted(
            [e.file_name, sorted(e.labels), e.sha256, item.code.hex()]
            for item in index.store.items(limit=1000)
            for e in (item.entry,)
        )


def _items_if_any(folder: Path) -> Any:
    return _items(folder) if (folder / "index/index.json").exists() else []


def _each_of(now: Any, first: Any, last: Any) -> bool:
    """Return whether every item is as it was or as it will be, and none is there twice."""
    known = [*(first[0] if first else ()), *last[0]]
    known += [[name, labels, "", code] for name, labels, _, code in known]  # is read again
    return all(item in known for item in now) and len({item[0] for item in now}) == len(now)


def _set_up_training(folder: Path) -> None:
    draw = np.random.default_rng(0)
    labels = (draw.random((40, 4)) < 0.4).astype(np.uint8)
    np.save(folder / "labels.npy", labels)
    np.save(folder / "features.npy", (labels @ draw.normal(0, 1, (4, 6))).astype(np.float32))


def _train(folder: Path, *more: object, seed: int = 0) -> None:
    _command(
        "train", "--features", folder / "features.npy", "--labels", folder / "labels.npy",
        "-o", folder / "trained", "--bits", 8, "--epochs", 3, "--method", "idhn",
        "--seed", seed, "--device", "cpu", *more,
    )  # fmt: skip


def _set_up_replacing(folder: Path) -> None:
    _set_up_training(folder)
    with contextlib.suppress(SystemExit):
        _train(folder, seed=1)


def _look_model(folder: Path) -> Any:
    epochs = [json.loads(line)["epoch"] for line in (folder / "trained/log.jsonl").open()]
    return [_codes(folder), epochs, _names(folder)]


def _codes(folder: Path) -> Any:
    from softhash.model.hasher import Hasher

    if not (folder / "trained").exists():
        return None
    return Hasher.load(folder / "trained").encode(np.load(folder / "features.npy")).tolist()


def _old_or_new(now: Any, first: Any, last: Any) -> bool:
    return now in ((first or [None])[0], last[0])


def _upload(folder: Path) -> None:
    """Send pictures to a writable server, as `_send` does."""
    try:
        _send(folder)
    except SofthashError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)


def _send(folder: Path, numbers: range = UPLOADS) -> None:
    """Send pictures; a name is noted where it was acknowledged."""
    from softhash.index import HammingIndex
    from softhash.server import create_app

    with HammingIndex.open(folder / "index", writable=True) as index:
        app = create_app(index, writable=True, token=TOKEN)
        refused = False
        for number in numbers:
            name, data = f"{number}.png", encoded(picture(number), "PNG")
            status, answer = asyncio.run(_post(app, name, data))
            if status == 201:
                with folder.with_name(f"{folder.name}.acknowledged").open("a") as file:
                    file.write(f"{name}\n")
            elif status != 409:
                refused = True
                sys.stderr.write(f"{status} {answer}\n")
    sys.exit(int(refused))


async def _post(app: Any, name: str, data: bytes) -> tuple[int, str]:
    """Call the application as a server would; return the status and the answer."""
    edge = "softhash-edge"
    head = f'Content-Disposition: form-data; name="image"; filename="{name}"'
    body = f"--{edge}\r\n{head}\r\nContent-Type: image/png\r\n\r\n".encode() + data
    body += f"\r\n--{edge}--\r\n".encode()
    headers = {
        "host": "127.0.0.1",
        "authorization": f"Bearer {TOKEN}",
        "content-type": f"multipart/form-data; boundary={edge}",
        "content-length": str(len(body)),
    }
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST",
        "scheme": "http", "path": "/api/v1/items", "raw_path": b"/api/v1/items",
        "query_string": b"", "root_path": "", "client": ("127.0.0.1", 1), "server": ("x", 80),
        "headers": [(key.encode(), value.encode()) for key, value in headers.items()],
    }  # fmt: skip
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    answer = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], answer.decode("utf-8", "replace")


def _upload_again(folder: Path) -> None:
    _send(folder, range(UPLOADS.start, UPLOADS.stop + 1))  # a new one clears up beside it


def _acknowledged(folder: Path) -> Any:
    noted = folder.with_name(f"{folder.name}.acknowledged")
    told = noted.read_text().split() if noted.exists() else []
    return [told, _items(folder)]


def _all_acknowledged(now: Any, first: Any, last: Any) -> bool:
    told, items = now
    names = [item[0] for item in items]
    return set(told) <= set(names) and len(set(names)) == len(names)


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("create", _set_up_create, _index, _index, _look_index, _items_if_any, _each_of),
        Scenario("update", _set_up_update, _index, _index, _look_index, _items_if_any, _each_of),
        Scenario(
            "train", _set_up_training, _train, lambda f: _train(f, "--force"), _look_model,
            _codes, _old_or_new,
        ),
        Scenario(
            "resume", _set_up_training, _train, lambda f: _train(f, "--force", "--resume"),
            _look_model, _codes, _old_or_new,
        ),
        Scenario(
            "replace", _set_up_replacing, lambda f: _train(f, "--force"),
            lambda f: _train(f, "--force"), _look_model, _codes, _old_or_new,
        ),
        Scenario(
            "upload", lambda f: (_set_up_create(f), _quietly(_index, f)), _upload, _upload_again,
            _look_index, _acknowledged, _all_acknowledged,
        ),
        Scenario(
            "import", _set_up_codes, _import, _import, _look_import, _items_if_any, _each_of
        ),
    )
}  # fmt: skip


def _quietly(act: Callable[[Path], object], folder: Path) -> None:
    with contextlib.suppress(SystemExit):
        act(folder)

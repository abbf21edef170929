"""An index of format version 1, written by plain SQL: what must stay readable for good."""

import json
import sqlite3
from contextlib import closing
from zlib import crc32

import numpy as np

SCHEMA = """
CREATE TABLE state (
    bits INTEGER NOT NULL, model TEXT NOT NULL, root NOT NULL, change INTEGER NOT NULL,
    edits INTEGER NOT NULL, items INTEGER NOT NULL, slots INTEGER NOT NULL,
    label_words INTEGER NOT NULL
);
CREATE TABLE items (
    id INTEGER PRIMARY KEY, file_name NOT NULL UNIQUE, labels TEXT NOT NULL, size INTEGER NOT NULL,
    modified INTEGER NOT NULL, sha256 TEXT NOT NULL, code BLOB NOT NULL, crc32 INTEGER NOT NULL
);
CREATE INDEX content ON items (sha256) WHERE sha256 <> '';
CREATE TABLE labels (number INTEGER PRIMARY KEY, name NOT NULL UNIQUE);
CREATE TABLE pending (id INTEGER PRIMARY KEY);
"""


def write(folder, codes, entries, removed=(), pending=()):
    """Write an index of 64 bits with these items; those removed leave empty slots.

    Records of pending items are not written: only their rows are there.
    """
    folder.mkdir()
    about = {"format": "softhash index", "version": 1, "bits": 64}
    (folder / "index.json").write_text(json.dumps(about))
    names = sorted({label for entry in entries for label in entry.labels})
    numbers = {name: number for number, name in enumerate(names, start=1)}
    labels = np.zeros(len(codes), np.uint64)
    rows = []
    for id, (code, entry) in enumerate(zip(codes, entries, strict=True)):
        if id in removed:
            continue
        labels[id] = 1 + sum(1 << numbers[label] for label in entry.labels)
        values = id, entry.file_name, json.dumps(entry.labels), *entry[2:5]
        text = "".join(f"{value}\0" for value in values)
        rows.append((*values, bytes(code), crc32(text.encode() + bytes(code))))
    records = np.array(codes)
    records[list(removed)] = 0
    records[list(pending)], labels[list(pending)] = 0, 0
    (folder / "codes.bin").write_bytes(records.tobytes())
    (folder / "labels-1.bin").write_bytes(labels.tobytes())
    (folder / "write.lock").touch()
    (folder / "confirmed").write_text(f"{7:020}\n")
    with closing(sqlite3.connect(folder / "items.sqlite")) as connection:
        connection.executescript(f"PRAGMA journal_mode = WAL; {SCHEMA}")
        connection.executemany("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        connection.executemany("INSERT INTO labels VALUES (?, ?)", enumerate(names, start=1))
        connection.executemany("INSERT INTO pending VALUES (?)", ((id,) for id in pending))
        state = 64, "model", "/pictures", 7, 1, len(rows), len(codes), 1
        connection.execute("INSERT INTO state VALUES (?, ?, ?, ?, ?, ?, ?, ?)", state)
        connection.commit()

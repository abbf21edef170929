"""A real Milvus for tests: the server of the package `milvus`, on a free port."""

import atexit
import contextlib
import functools
import gc
import os
import shutil
import socket
import tempfile
import uuid
import warnings
from pathlib import Path
from unittest import mock

import pytest

from softhash.index.milvus import MilvusStore

ATTEMPTS = 3


@pytest.fixture(scope="session")
def milvus_server():
    """Hand out "host:port" of a server that runs until the tests end."""
    return start_server()


def milvus_store(server, meta, name=None):
    """Make a store in a new collection, under a name that nothing has."""
    return MilvusStore.create(f"milvus://{server}/{name or f'test_{uuid.uuid4().hex}'}", meta)


def start_server():
    """Start the one server of this process, if it does not run; skip where it cannot."""
    found = _address_or_reason()
    if " " in found:
        pytest.skip(found)
    return found


@functools.cache
def _address_or_reason():
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what other people's packages warn about is theirs
            import milvus
            import pymilvus  # noqa: F401
    except ImportError as error:
        return (
            f"no server to test with: {error}; pip install pymilvus milvus==2.3.5 'setuptools<81'"
        )
    for _ in range(ATTEMPTS):  # a free port may be taken the moment after
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a server that did not start leaves sockets behind
            found = _started(milvus)
            gc.collect()
        if " " not in found:
            break
    return found


def _started(milvus):
    folder = Path(tempfile.mkdtemp(prefix="milvus-"))
    server = milvus.MilvusServer(wait_for_started=False)
    atexit.register(_stop, server, folder)
    server.set_base_dir(str(folder))
    keys = [key for key in server.config_keys if key.endswith("_port")]
    server.webservice_port, peers, *rest = _free_ports(2 + len(keys))
    ports = dict(zip(keys, rest, strict=True))
    server.config.update(**ports)
    etcd = _etcd_config(folder / "etcd.yaml", ports["etcd_port"], peers)
    try:
        with mock.patch.dict(os.environ, ETCD_CONFIG_PATH=etcd):
            server.start()
        server.wait_started(timeout=60_000)
    except (OSError, RuntimeError) as error:
        return f"the Milvus server does not start here: {error}"
    return f"127.0.0.1:{ports['proxy_port']}"


def _stop(server, folder):
    with contextlib.suppress(Exception):
        server.stop()
    shutil.rmtree(folder, ignore_errors=True)


def client(server):
    from pymilvus import MilvusClient

    return MilvusClient(f"http://{server}", timeout=5)


def _etcd_config(path, port, peer_port):
    """Move the etcd inside the server to ports of its own; it would insist on 2379 and 2380."""
    own, peers = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    lines = [f"{key}: {own}" for key in ("listen-client-urls", "advertise-client-urls")]
    lines += [f"{key}: {peers}" for key in ("listen-peer-urls", "initial-advertise-peer-urls")]
    path.write_text("\n".join([*lines, f"initial-cluster: default={peers}", ""]))
    return str(path)


def _free_ports(count):
    """Find so many ports that are free at once, so that none is found twice."""
    with contextlib.ExitStack() as probes:
        found = [probes.enter_context(socket.socket()) for _ in range(count)]
        for probe in found:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in found]

"""A real Milvus for tests: the server of the package `milvus`, on a free port."""

import contextlib
import shutil
import socket
import warnings

import pytest

from softhash.index.milvus import MilvusStore


@pytest.fixture(scope="session")
def milvus_server(tmp_path_factory):
    """Start a server, hand out "host:port", and stop it; skip where it is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what other people's packages warn about is theirs
        milvus = pytest.importorskip("milvus", reason="needs the server: pip install milvus==2.3.5")
        pytest.importorskip("pymilvus", reason="needs the client: pip install 'softhash[milvus]'")
    folder = tmp_path_factory.mktemp("milvus")
    server = milvus.MilvusServer()
    server.set_base_dir(str(folder))
    server.config.update(proxy_port=_free_port())
    try:
        try:
            server.start()
        except (OSError, RuntimeError) as error:
            pytest.skip(f"the Milvus server does not start here: {error}")
        yield f"127.0.0.1:{server.listen_port}"
    finally:
        with contextlib.suppress(Exception):
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


def milvus_store(server, meta, name):
    """Make a store in a new collection; what is left of an earlier one is dropped."""
    drop(server, name)
    return MilvusStore.create(f"milvus://{server}/{name}", meta)


def client(server):
    from pymilvus import MilvusClient

    return MilvusClient(f"http://{server}", timeout=5)


def drop(server, name):
    connection = client(server)
    if connection.has_collection(name):
        connection.drop_collection(name)
    connection.close()


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]

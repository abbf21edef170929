"""An index in a Milvus collection: `milvus://host:port/collection`."""

from softhash.index.milvus.store import MilvusStore

__all__ = ["MilvusStore"]

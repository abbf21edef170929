"""Indexes whose codes are kept on a GPU, where searches compare them."""

from typing import Protocol, runtime_checkable

from softhash.devices import pick_device
from softhash.errors import UsageError
from softhash.index.store import Store


@runtime_checkable
class DeviceStore(Protocol):
    """What a `Store` may offer too."""

    def search_on(self, device: str) -> None:
        """Keep codes, and the masks of filters, on a device from now on, and search there.

        The copy follows the index as it changes. Searches of several threads are answered
        together. Rankings are those of the processor, to the last tie.

        Args:
            device: such as "cuda" or "cuda:1".

        """


def search_on(store: Store, device: str) -> None:
    """Let a device search; nothing to do for the processor.

    Args:
        store: what is searched.
        device: "cpu", "cuda", "cuda:1" or "auto".

    Raises:
        UsageError: there is no such device, or the store searches by itself.

    """
    if device == "cpu" or (device := pick_device(device)) == "cpu":
        return
    if not isinstance(store, DeviceStore):
        raise UsageError(f"{store.location} is searched by its server", "leave --device out")
    store.search_on(device)

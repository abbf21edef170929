"""Training in several processes: outputs of all ranks gathered, so that pairs span the whole batch.

Under ``torchrun`` each process works on its share of a batch. Every rank computes the loss of the
whole batch from the gathered outputs. Gathering sums gradients over the ranks, and
DistributedDataParallel then averages those of the parameters: the two factors cancel, and the
result is the gradient that one process would have had.
"""

import atexit
import gc
import os
from typing import Any

import torch
from torch import Tensor, distributed


def rank() -> int:
    """Return the number of this process, 0 where there is only one."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def world_size() -> int:
    """Count the processes that train together."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def join() -> None:
    """Join the other processes when started by torchrun; they are left at exit at the latest."""
    if "WORLD_SIZE" in os.environ and not distributed.is_initialized():
        import torch._dynamo  # optimisers do; imported later, it would keep the group for ever

        if torch.cuda.is_available():
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))  # what "cuda" means from here on
        distributed.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
        atexit.register(leave)


def wait() -> None:
    """Wait until all processes have come this far."""
    if distributed.is_initialized():
        distributed.barrier()


def leave() -> None:
    """Leave the other processes; the threads of the group end, as they could abort Python."""
    if distributed.is_initialized():
        gc.collect()  # what is left of training has the group too
        distributed.destroy_process_group()


def share(batch: Tensor) -> Tensor:
    """Take this process's share of the positions of a batch; all shares are equally long."""
    return batch.chunk(world_size())[rank()]


def gather(values: Tensor) -> Tensor:
    """Return the values of all ranks, in the order of `share`; gradients flow back to each."""
    if world_size() == 1:
        return values
    gathered: Tensor = _Gathered.apply(values)  # type: ignore[no-untyped-call]
    return gathered


class _Gathered(torch.autograd.Function):
    @staticmethod
    def forward(_ctx: Any, values: Tensor) -> Tensor:
        parts = [torch.empty_like(values) for _ in range(world_size())]
        distributed.all_gather(parts, values.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(_ctx: Any, gradient: Tensor) -> Tensor:
        summed = gradient.clone(memory_format=torch.contiguous_format)
        distributed.all_reduce(summed)
        return share(summed)

"""A process that has imported everything, and forks one that acts for every line it is sent.

It runs with the library of `faults.c` loaded before all others; see `faults`.
"""

import contextlib
import ctypes
import importlib
import json
import os
import resource
import sys
import traceback
import warnings
from pathlib import Path

from softhash.model._runtime import import_runtime

from .fault_scenarios import SCENARIOS

KINDS = {"none": 0, "kill": 1, "EIO": 2, "ENOSPC": 3}


def main() -> None:
    """Answer until the input ends."""
    library = ctypes.CDLL(os.environ["LD_PRELOAD"])
    library.faults_arm.argtypes = (ctypes.c_char_p, ctypes.c_long, ctypes.c_long)
    library.faults_calls.restype = ctypes.c_long
    _preload()
    for line in sys.stdin:
        job = json.loads(line)
        pid = os.fork()
        if not pid:
            _act(job, library)
        _, status = os.waitpid(pid, 0)
        _import_what_it_did(job)
        answer = {"status": os.waitstatus_to_exitcode(status), "calls": library.faults_calls()}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _preload() -> None:
    """Import what is used, without starting threads that a fork would lose."""
    import torch  # noqa: F401

    import softhash.cli
    import softhash.index
    import softhash.server.app
    import softhash.training.fit  # noqa: F401

    import_runtime().set_default_logger_severity(4)


def _import_what_it_did(job: dict[str, object]) -> None:
    """Import what a process without a fault did, so that the next ones need not."""
    noted = Path(f"{job['folder']}.modules")
    if noted.exists():
        for name in noted.read_text().split():
            with contextlib.suppress(Exception):
                importlib.import_module(name)
        noted.unlink()


def _act(job: dict[str, object], library: ctypes.CDLL) -> None:
    """Do one thing in this process, and end it."""
    status, before = 1, set(sys.modules)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder = Path(str(job["folder"]))
    for stream, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(f"{folder}.{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    try:
        warnings.simplefilter("ignore")
        act = getattr(SCENARIOS[str(job["scenario"])], str(job["step"]))
        library.faults_arm(f"{folder}/".encode(), job["at"], KINDS[str(job["kind"])])
        found = act(folder)
        if found is not None:
            sys.stdout.write(json.dumps(found))
        status = 0
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        if not job["at"]:
            Path(f"{folder}.modules").write_text("\n".join(sorted(set(sys.modules) - before)))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    main()

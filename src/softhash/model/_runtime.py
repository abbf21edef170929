"""ONNX Runtime, imported in one place: it sends nothing anywhere."""

import os
from typing import Any


def import_runtime() -> Any:
    """Import ONNX Runtime with its telemetry off.

    Its wheels keep a device id and a queue of events in the user's cache, and send these to its
    makers. The variable prevents all of that, where it is set before the first import. A program
    that has imported it before gets no further events.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime

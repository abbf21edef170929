"""JSON of any text."""

import json
from typing import Any

from starlette.responses import JSONResponse


class Json(JSONResponse):
    """JSON in UTF-8; what that cannot hold, as names of files in other encodings, becomes `?`."""

    def render(self, content: Any) -> bytes:
        """Write a response's body."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode(errors="replace")

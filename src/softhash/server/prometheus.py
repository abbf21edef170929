"""Counters and histograms of a server, for Prometheus."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import Scope

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class ServerMetrics:
    """Counters and histograms of one application."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "softhash_requests_total",
            "Requests answered.",
            ("method", "route", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "softhash_request_seconds",
            "Time from a request's head to the end of its response.",
            ("route",),
            buckets=SECONDS,
            registry=self._registry,
        )
        self.encode_seconds = Histogram(
            "softhash_encode_seconds",
            "Time to decode and encode a picture.",
            buckets=SECONDS,
            registry=self._registry,
        )
        self._items = Gauge("softhash_items", "Items in the index.", registry=self._registry)

    def request(self, scope: Scope, status: int, seconds: float) -> None:
        """Count a request; label values come from a closed set, so that memory is bounded."""
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in METHODS else "OTHER"
        self._requests.labels(method, route, status).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self, items: int) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        self._items.set(items)
        return generate_latest(self._registry)

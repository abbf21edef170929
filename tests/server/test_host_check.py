"""Names that a server answers for, and headers that protect its pages."""

import socket

import pytest
from serving import is_problem, open_client

from softhash.server.running import answered_names

EVERYWHERE = "0.0.0.0"  # noqa: S104


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "x" * 20_000]
)
def test_other_host_names_are_refused(index, host):
    with open_client(index, hosts=answered_names(EVERYWHERE, ["Photos.example"])) as client:
        told = is_problem(client.get("/api/v1/index", headers={"Host": host}), 421, "other-host")
        assert len(told["detail"]) < 2_000
        is_problem(client.get("/", headers={"Host": host}), 421)
        known = "localhost:8000", "LOCALHOST", "photos.example", socket.gethostname()
        for ours in (*known, "127.0.0.1:1", "[::1]:8000", "192.168.1.5"):
            assert client.get("/api/v1/health", headers={"Host": ours}).status_code == 200


def test_a_server_for_this_machine_alone_answers_for_its_own_names_alone():
    assert answered_names("127.0.0.1") == {"localhost", "127.0.0.1"}
    assert answered_names("::1", ["a.example"]) == {"localhost", "[::1]", "a.example"}


def test_pages_and_answers_carry_the_headers_that_protect_them(client):
    for path in ("/", "/api/v1/index", "/api/v1/nothing", "/docs/"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        for part in ("default-src 'self'", "form-action 'self'", "frame-ancestors 'none'"):
            assert part in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"] == "private, no-cache"
    assert client.get("/api/v1/items/1/image").headers["cache-control"].startswith("private")

"""The address of a collection: `milvus://[user:password@]host[:port]/collection[?token=…]`."""

import re
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from softhash.errors import UsageError

FORM = "milvus://[user:password@]host[:19530]/collection"
DEFAULT_PORT = 19530
SCHEMES = {"milvus": "http", "milvus+tls": "https"}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")  # what Milvus allows


@dataclass(frozen=True)
class Address:
    """The address of a collection on a server; its secret is never shown.

    >>> address = Address.parse("milvus://ada:secret@db.example/photos")
    >>> address
    Address(scheme='milvus', host='db.example', port=19530, collection='photos', user='ada')
    >>> str(address), address.token
    ('milvus://ada:***@db.example:19530/photos', 'ada:secret')
    """

    scheme: str
    host: str
    port: int
    collection: str
    user: str = ""
    secret: str = field(default="", repr=False)  # the password, or the token where no user is

    @classmethod
    def parse(cls, location: str) -> Self:
        """Parse a location; raise UsageError with the right form where it is wrong."""
        try:
            parts = urlsplit(location)
            port = parts.port
        except ValueError:  # a port that is not a number, a bracket that is not closed
            raise UsageError("the host or port is not right", f"write {FORM}") from None
        if parts.scheme not in SCHEMES or not parts.hostname:
            raise _wrong("it needs a scheme and a host", parts)
        name = unquote(parts.path).removeprefix("/").removesuffix("/")
        if not _NAME.fullmatch(name):
            raise _wrong(
                f"'{name}' is not a collection's name: letters, digits and _, no digit first", parts
            )
        user, secret = _credentials(parts)
        return cls(parts.scheme, parts.hostname, port or DEFAULT_PORT, name, user, secret)

    def __str__(self) -> str:
        known = f"{self.user}:***@" if self.user else ""
        token = "?token=***" if self.secret and not self.user else ""
        return f"{self.scheme}://{known}{self.server}/{self.collection}{token}"

    @property
    def server(self) -> str:
        """Host and port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def uri(self) -> str:
        """The server, as pymilvus wants it."""
        return f"{SCHEMES[self.scheme]}://{self.server}"

    @property
    def token(self) -> str:
        """The credentials, as pymilvus wants them; "" for none."""
        return f"{self.user}:{self.secret}" if self.user else self.secret


def _credentials(parts: SplitResult) -> tuple[str, str]:
    options = parse_qs(parts.query, keep_blank_values=True)
    unknown = sorted(set(options) - {"token"})
    if unknown or parts.fragment:
        raise _wrong(
            f"'{(unknown or [parts.fragment])[0]}' is not an option; only ?token= is", parts
        )
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    token = options.get("token", [""])[-1]
    if bool(user) != bool(password) or (user and token):
        raise _wrong("give a user with a password, or a token, or neither", parts)
    return user, password or token


def _wrong(what: str, parts: SplitResult) -> UsageError:
    shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    return UsageError(f"{shown} is not the address of a collection: {what}", f"write {FORM}")

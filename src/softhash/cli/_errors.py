"""What commands say of errors: the library's detail, and a hint in terms of options."""

from softhash.errors import (
    AddressError,
    AlreadyExistsError,
    EmptyUpdateError,
    NoFeaturesError,
    NoModelError,
    NoOutputsError,
    QueryError,
    SofthashError,
)

HINTS: dict[type[SofthashError], str] = {
    AddressError: "give another --host or --port",
    AlreadyExistsError: "use --force to replace it",
    EmptyUpdateError: (
        "is it the right folder, and is its drive there? --force removes them from the index, "
        "--keep-missing keeps them"
    ),
    NoFeaturesError: (
        "keep them with softhash index IMAGES -o INDEX --keep-features, or use --rescore bits"
    ),
    NoModelError: "give the one that made its codes with -m MODEL, or search by --id or --code",
    NoOutputsError: "give IMAGE, or leave --rescore out",
    QueryError: "give IMAGE, WORDS, --id ID or --code HEX, or --label or --where alone",
}


def message(error: SofthashError) -> str:
    """Write an error as one line, its hint in the words of the command line.

    >>> message(AlreadyExistsError("codes.npy exists", "to overwrite it, pass force=True"))
    'codes.npy exists; use --force to replace it'
    """
    hint = HINTS.get(type(error), error.hint)
    return f"{error.detail}; {hint}" if hint else error.detail

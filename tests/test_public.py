import subprocess
import sys

import softhash
from softhash import errors

ERRORS = {name for name in vars(errors) if name.endswith("Error")}


def test_the_public_door_holds_exactly_these_names():
    assert softhash.__all__ == sorted(softhash.__all__)
    assert set(softhash.__all__) == ERRORS | {
        "Encoded",
        "Entry",
        "HammingIndex",
        "Hasher",
        "Hit",
        "ImageSet",
        "Options",
        "Recipe",
        "Report",
        "SearchResult",
        "Split",
        "TieAwareMAP",
        "TieAwareNDCG",
        "describe_codes",
        "evaluate",
        "evaluate_codes",
        "evaluate_lengths",
        "evaluate_range",
        "fit",
        "fit_features",
        "nearest",
        "open_image",
        "pack",
        "tie_aware_map",
        "tie_aware_ndcg",
        "unpack",
        "within",
    }
    for name in softhash.__all__:
        assert getattr(softhash, name).__doc__


def test_an_unknown_name_is_an_attribute_error():
    assert not hasattr(softhash, "pck")
    assert "pack" in dir(softhash)


def test_importing_softhash_is_light():
    code = "import softhash, sys; sys.exit(bool({'torch', 'numba', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0

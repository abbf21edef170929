"""Methods, backbones and formats that other packages add through entry points."""

import sys
from importlib.metadata import entry_points

import pytest

from softhash import ImageSet, InputError, UsageError, plugins
from softhash.data import formats
from softhash.model import backbones
from softhash.plots.styles import display_name
from softhash.training import methods

METHOD = """
from softhash.training.methods.idhn import IDHN


class Mine(IDHN):
    '''A method of mine.'''

    name, title = "mine", "MiNe"


class Other(IDHN):
    name = "other"
"""
SPEC = """
from softhash.model.backbones import BackboneSpec

about = (4, 32, (0.0,) * 3, (1.0,) * 3, "Four numbers.")
FOUR = BackboneSpec("four", *about, architecture="NAME.network:Four", weights="NAME.network:file")
BARE = BackboneSpec("bare", *about, architecture="NAME.network:Four")
NOTHING = BackboneSpec("nothing", *about)
"""
NETWORK = """
from pathlib import Path
from torch import nn
from safetensors.torch import save_file


class Four(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(3, 4)

    def forward(self, pictures):
        return self.last(pictures.mean((2, 3)))


def file():
    path = Path(__file__).with_name("four.safetensors")
    save_file({k: v.fill_(0.5) for k, v in Four().requires_grad_(False).state_dict().items()}, path)
    return path
"""
FORMAT = """'''Pictures that are named in a file called `mine`.

More about it.
'''
import numpy as np
from softhash import ImageSet


def matches(path):
    return (path / "mine").exists()


def read(path, *, label="x"):
    names = tuple((path / "mine").read_text().split())
    return ImageSet(path, names, np.ones((len(names), 1), np.uint8), (label,), "mine")
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Return a function that installs a package, as pip would, until the test is over."""
    added = []

    def install(name, points, **modules):
        site = tmp_path / f"site-{name}"
        about = site / f"{name}-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        lines = [f"[{group}]\n{one} = {name}.{place}" for group, one, place in points]
        (about / "entry_points.txt").write_text("\n".join(lines) + "\n")
        (site / name).mkdir()
        for module, code in {"__init__": "", **modules}.items():
            (site / name / f"{module}.py").write_text(code.replace("NAME", name))
        monkeypatch.syspath_prepend(str(site))
        added.append(name)

    yield install
    for module in [one for one in sys.modules if one.partition(".")[0] in added]:
        del sys.modules[module]


def method(name, place):
    return ("softhash.methods", name, place)


def test_a_method_is_found_listed_guessed_and_created(install):
    install("pack", [method("mine", "code:Mine")], code=METHOD)
    assert "pack" not in sys.modules
    with pytest.raises(UsageError, match="unknown method 'mien'; did you mean 'mine'"):
        methods.create("mien", 8, 3)
    assert "pack" not in sys.modules  # names alone were looked at
    assert methods.create("mine", 8, 3, alpha=2.0).alpha == 2.0
    assert methods.describe()["mine"] == "A method of mine."
    assert list(methods.describe())[-1] == "mine"
    assert display_name("mine") == "MiNe"


def test_a_backbone_is_found_listed_and_built_by_its_spec(install):
    points = [("softhash.backbones", name, f"spec:{name.upper()}") for name in ("four", "bare")]
    install("pack", points, spec=SPEC, network=NETWORK)
    assert backbones.spec("four").features == 4
    assert backbones.describe()["four"] == "Four numbers."
    assert "pack.network" not in sys.modules  # which needs torch
    assert (backbones.build("four").last.weight == 0.5).all()
    assert backbones.build("four", weights=None).last.weight.shape == (4, 3)
    with pytest.raises(UsageError, match="bare has no published weights; give a file"):
        backbones.build("bare")
    with pytest.raises(UsageError, match="unknown backbone 'foru'; did you mean 'four'"):
        backbones.spec("foru")


def test_a_format_is_found_listed_detected_and_read(install, tmp_path):
    install("pack", [("softhash.formats", "mine", "layout")], layout=FORMAT)
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "a.png").write_bytes(b"")
    assert formats.detect(folder) == "folder"
    (folder / "mine").write_text("a.png")
    assert formats.detect(folder) == "mine"
    assert ImageSet.read(folder).classes == ("x",)
    assert ImageSet.read(folder, "mine", label="y").classes == ("y",)
    assert formats.describe()["mine"] == "Pictures that are named in a file called `mine`."
    assert formats.list_options("mine") == ("label",)
    with pytest.raises(UsageError, match="unknown format 'mien'; did you mean 'mine'"):
        ImageSet.read(folder, "mien")
    with pytest.raises(UsageError, match="option of format 'mine' 'lable'; did you mean 'label'"):
        ImageSet.read(folder, "mine", lable="y")


def test_a_broken_plugin_is_named_and_breaks_nothing_else(install, tmp_path, caplog):
    groups = ("softhash.methods", "softhash.backbones", "softhash.formats")
    broken = [(group, "broken", "gone") for group in groups]
    install("rotten", [*broken, method("raises", "raises:X")], raises="raise RuntimeError('ouch')")
    install("pack", [method("mine", "code:Mine")], code=METHOD)
    message = "the {} 'broken' of package 'rotten' cannot be imported: ModuleNotFoundError"
    with pytest.raises(InputError, match=message.format("method")):
        methods.create("broken", 8, 3)
    with pytest.raises(InputError, match=r"'raises' of package 'rotten' .* RuntimeError: ouch"):
        methods.create("raises", 8, 3)
    with pytest.raises(InputError, match=message.format("backbone")):
        backbones.spec("broken")
    with pytest.raises(InputError, match=message.format("format")):
        ImageSet.read(tmp_path, "broken")
    assert methods.create("mine", 8, 3)
    assert methods.create("idhn", 8, 3)
    for room in (methods, backbones, formats):
        assert room.describe()["broken"].startswith("Cannot be used: the ")
    assert display_name("broken") == "broken"  # results of a plug-in can be plotted without it
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.png").write_bytes(b"")
    assert formats.detect(tmp_path / "photos") == "folder"
    assert "format 'broken' of package 'rotten' cannot be imported" in caplog.text


def test_a_format_that_fails_while_looking_does_not_stop_detection(install, tmp_path, caplog):
    code = "def matches(path): return {}['lost']\ndef read(path): pass"
    install("pack", [("softhash.formats", "failing", "layout")], layout=code)
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.png").write_bytes(b"")
    assert formats.detect(tmp_path / "photos") == "folder"
    assert "format 'failing' was not looked for: KeyError: 'lost'" in caplog.text


def test_built_in_names_win_and_the_clash_is_listed(install):
    points = [method("idhn", "code:Mine"), ("softhash.backbones", "alexnet", "code")]
    install("thief", [*points, ("softhash.formats", "folder", "code")], code="raise SystemError")
    assert methods.create("idhn", 8, 3).name == "idhn"
    assert backbones.spec("alexnet").features == 4096
    for room, name in ((methods, "idhn"), (backbones, "alexnet"), (formats, "folder")):
        assert room.describe()[f"{name} (thief)"].startswith("Not used")
        assert not room.describe()[name].startswith("Not used")
    assert "thief" not in sys.modules


def test_a_name_that_two_packages_add_raises_and_names_both(install):
    for package in ("left", "right"):
        install(package, [method("mine", "code:Mine")], code=METHOD)
    with pytest.raises(InputError, match="several packages add a method 'mine': left, right"):
        methods.create("mine", 8, 3)
    assert "several packages" in methods.describe()["mine"]


@pytest.mark.parametrize(
    ("point", "room", "message"),
    [
        (method("mine", "code:Other"), methods, "not a subclass of Method whose name is 'mine'"),
        (method("mine", "code"), methods, "is <module .*not a subclass of Method"),
        (("softhash.backbones", "nothing", "spec:NOTHING"), backbones, "with an architecture"),
        (("softhash.backbones", "five", "spec:FOUR"), backbones, "not a BackboneSpec of that name"),
        (("softhash.formats", "half", "code"), formats, "which has no `matches` and `read`"),
    ],
)
def test_what_a_group_does_not_take_raises(install, point, room, message):
    install("pack", [point], code=METHOD, spec=SPEC)
    find = {methods: methods.method_class, backbones: backbones.spec, formats: formats.list_options}
    with pytest.raises(InputError, match=rf"'{point[1]}' of package 'pack' .*{message}"):
        find[room](point[1])


def test_installed_packages_are_looked_through_once(install, monkeypatch):
    install("pack", [method("mine", "code:Mine")], code=METHOD)
    looked = []

    def look(**given):
        looked.append(given)
        return entry_points(**given)

    monkeypatch.setattr("importlib.metadata.entry_points", look)
    for _ in range(3):
        assert plugins.plugin_names("softhash.methods") == ["mine"]
    assert looked == [{"group": "softhash.methods"}]

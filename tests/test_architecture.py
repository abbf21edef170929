"""The floor plan: rooms, doors, private modules; `lint-imports` keeps the direction of imports."""

import ast
from pathlib import Path

import pytest

import softhash

ROOT = Path(softhash.__file__).parent
ROOMS = {
    "cli",
    "data",
    "evaluation",
    "experiments",
    "hamming",
    "index",
    "model",
    "plots",
    "server",
    "training",
}
TOP = {"__init__", "__main__", "_kernels", "_threads", "codes", "devices", "errors", "plugins"}
TOP_PACKAGES = {"files"}
MAX_LINES = 300
FILES = sorted(ROOT.rglob("*.py"))


def names(files):
    return [file.relative_to(ROOT).as_posix() for file in files]


def test_the_top_holds_the_rooms_and_what_all_of_them_use():
    folders = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}
    assert folders == ROOMS | TOP_PACKAGES
    assert {path.stem for path in ROOT.glob("*.py")} == TOP


def imported_modules(file):
    """Name every module of softhash that a file imports, as absolute dotted names."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} has a relative import"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("file", FILES, ids=names(FILES))
def test_a_private_module_is_imported_by_its_own_package_alone(file):
    package = ".".join(("softhash", *file.relative_to(ROOT).parts[:-1]))
    for module in imported_modules(file):
        home, _, name = module.rpartition(".")
        is_file = (ROOT.parent / Path(*module.split("."))).with_suffix(".py").exists()
        if home.startswith("softhash.") and name.startswith("_") and is_file:
            assert package == home, f"{package} imports {module}"


DOORS = [file for file in FILES if file.name == "__init__.py" and file.parent != ROOT]


@pytest.mark.parametrize("file", DOORS, ids=names(DOORS))
def test_a_door_only_passes_names_on(file):
    body = ast.parse(file.read_text()).body
    workshop = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert not workshop, f"{workshop[0].name} belongs into a module of its own"


def test_no_file_is_long():
    lines = {file.relative_to(ROOT): len(file.read_text().splitlines()) for file in FILES}
    assert not {file: count for file, count in lines.items() if count > MAX_LINES}


def test_tests_mirror_the_rooms():
    tests = Path(__file__).parent
    folders = {path.name for path in tests.iterdir() if any(path.glob("*.py"))}
    assert folders == ROOMS | {"docs", "hardening", "tools"}


def test_attacks_run_with_the_slow_tests():
    """They would take most of the time that is left for the others."""
    for file in sorted((Path(__file__).parent / "hardening").glob("test_*.py")):
        assert "pytest.mark.slow" in file.read_text(), f"{file.name} is not marked"

"""The commit that rows carry."""

import shutil
import subprocess

import pytest

from softhash.errors import UsageError
from softhash.experiments.commit import find_commit, read_commit

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder, *arguments):
    who = ("-c", "user.name=tester", "-c", "user.email=tester@example.org")
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "src" / "package"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "first")
    yield folder
    read_commit.cache_clear()


@needs_git
def test_a_checkout_is_named_by_its_commit_and_marked_once_its_code_is_changed(package):
    commit = git(package, "rev-parse", "HEAD")[:12]
    (package.parents[1] / "results.jsonl").write_text("not code")
    assert read_commit(package) == commit
    read_commit.cache_clear()
    (package / "new.py").write_text("")
    assert read_commit(package) == f"{commit}-dirty"


@needs_git
def test_a_package_that_lies_in_the_checkout_of_another_project_has_no_commit(package):
    installed = package.parents[1] / "venv" / "softhash"
    installed.mkdir(parents=True)
    (installed / "__init__.py").write_text("")
    assert read_commit(installed) == "unknown"


def test_a_package_outside_any_checkout_has_no_commit(tmp_path):
    assert read_commit(tmp_path) == "unknown"


def test_a_copy_without_history_is_told_its_commit(monkeypatch):
    monkeypatch.setenv("SOFTHASH_COMMIT", "v1.2-3-gabc123-dirty")
    assert find_commit() == "v1.2-3-gabc123-dirty"


@pytest.mark.parametrize("given", ["two words", "-x", "a" * 65, "x\ny"])
def test_what_is_not_the_name_of_a_commit_is_refused(given, monkeypatch):
    monkeypatch.setenv("SOFTHASH_COMMIT", given)
    with pytest.raises(UsageError, match=r"SOFTHASH_COMMIT is .* git describe --always"):
        find_commit()

"""The container's files, as far as they can be checked without building an image."""

import re
from pathlib import Path

import yaml

from softhash.cli._app import app

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
SERVICES = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]


def test_what_the_image_copies_exists_and_is_not_ignored():
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, flags=re.MULTILINE)
    names = {name for line in copied for name in line.split()}
    allowed = {
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if "!" in line
    }
    assert names == allowed
    assert all((ROOT / name).exists() for name in names)


def test_the_image_runs_as_a_user_of_its_own_and_is_watched():
    assert DOCKERFILE.index("\nUSER softhash") < DOCKERFILE.index("\nENTRYPOINT")
    assert "/api/v1/health" in DOCKERFILE.partition("\nHEALTHCHECK")[2]


def test_every_service_mounts_pictures_to_read_alone_and_runs_a_command_that_exists():
    commands = {command.callback.__name__ for command in app.registered_commands}
    for service in SERVICES.values():
        assert service["command"][0] in commands
        [pictures] = [volume for volume in service["volumes"] if "PICTURES" in volume]
        assert pictures.endswith(":/pictures:ro")
        assert service["read_only"]


def test_other_machines_do_not_reach_the_page():
    assert SERVICES["serve"]["ports"] == ["127.0.0.1:8000:8000"]
    assert "ports" not in SERVICES["index"]

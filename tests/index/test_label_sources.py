"""Sources of labels that an index remembers."""

import pytest

from softhash.errors import InputError
from softhash.index.label_sources import NAME, choose_sources, remember_sources


def test_sources_are_remembered_until_others_or_none_are_asked_for(tmp_path):
    location = str(tmp_path)
    assert choose_sources(location, None) == []
    remember_sources(location, choose_sources(location, ["tags,folders"]))
    assert choose_sources(location, None) == ["tags", "folders"]
    assert choose_sources(location, ["tags"]) == ["tags"]
    remember_sources(location, choose_sources(location, ["none"]))
    assert choose_sources(location, None) == []
    assert list(tmp_path.iterdir()) == []
    remember_sources("milvus://host:1/name", ["tags"])
    assert choose_sources("milvus://host:1/name", None) == []


@pytest.mark.parametrize("content", ["", "{}", "[1]", '["sea"]', "[" * 900, "\xff"])
def test_a_damaged_file_is_an_error_with_a_way_out(tmp_path, content):
    (tmp_path / NAME).write_text(content, "latin-1")
    with pytest.raises(InputError, match=NAME):
        choose_sources(str(tmp_path), None)
    assert choose_sources(str(tmp_path), ["folders"]) == ["folders"]

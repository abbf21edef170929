"""Settings of a model: what older files lack, and what makes no sense."""

import json

import pytest

from softhash.errors import InputError, UsageError
from softhash.model.config import ModelConfig


def test_settings_come_back_as_they_were():
    config = ModelConfig(64, None, 9, hidden=7, skip_dropout=0.6, lengths=(16, 64), classes=("a",))
    assert ModelConfig.from_json(config.to_json(), "config.json") == config


def test_a_file_from_before_a_key_existed_means_a_model_without_it():
    content = ModelConfig(12, None, 4, hidden=3).as_dict()
    for key in ("skip_dropout", "lengths", "embedding", "words", "feature_dropout"):
        del content[key]
    read = ModelConfig.from_json(json.dumps(content), "config.json")
    assert (read.skip_dropout, read.lengths) == (1.0, ())


@pytest.mark.parametrize("lengths", [(0,), (13,), ("8",), (True,), (4.0,)])
def test_lengths_that_no_code_of_the_model_has_are_refused(lengths):
    with pytest.raises(UsageError, match="lengths has"):
        ModelConfig(12, None, 4, lengths=lengths)
    content = ModelConfig(12, None, 4).as_dict() | {"lengths": list(lengths)}
    with pytest.raises(InputError, match="lengths has"):
        ModelConfig.from_json(json.dumps(content), "config.json")

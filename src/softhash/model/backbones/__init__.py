"""Backbones: from a picture to a feature vector. Importing this package does not import torch."""

from softhash.model.backbones.registry import build, describe, load_weights, spec
from softhash.model.backbones.specs import BUILT_IN, BackboneSpec

__all__ = ["BUILT_IN", "BackboneSpec", "build", "describe", "load_weights", "spec"]

"""What each built-in backbone expects and gives, known without torch.

A spec names its architecture as text, so that torch is imported when a network is built.
"""

from dataclasses import dataclass
from typing import Any

from softhash.model.backbones.efficientnet_lite_shape import SCALES

Colour = tuple[float, float, float]


@dataclass(frozen=True)
class BackboneSpec:
    """What a backbone expects of a picture, how many features it makes of it, and what builds it.

    Attributes:
        name: what recipes and commands call it.
        features: the length of the feature vector.
        size: the side of the square input in pixels that its weights were made for.
        mean: red, green, blue; subtracted from pixel values of 0 to 255.
        std: red, green, blue; what the difference is divided by.
        describe: one line about it.
        least: the smallest side that leaves it anything to see.
        architecture: "module:Class" of a torch module from normalised pictures (n, 3, side, side)
            to features (n, features).
        arguments: what the class is called with.
        weights: "module:function" that returns the file of the published weights; by default
            those that softhash has for this name.

    """

    name: str
    features: int
    size: int
    mean: Colour
    std: Colour
    describe: str
    least: int = 32
    architecture: str = ""
    arguments: tuple[Any, ...] = ()
    weights: str = ""


# The usual ImageNet statistics, (0.485, 0.456, 0.406) and (0.229, 0.224, 0.225), times 255.
_MEAN: Colour = (123.675, 116.28, 103.53)
_STD: Colour = (58.395, 57.12, 57.375)
_HERE = "softhash.model.backbones"


def _lite(number: int, size: int, describe: str) -> BackboneSpec:
    name = f"efficientnet_lite{number}"
    return BackboneSpec(
        name, 1280, size, (127.0,) * 3, (128.0,) * 3, describe,
        architecture=f"{_HERE}.efficientnet_lite:EfficientNetLite", arguments=SCALES[name],
    )  # fmt: skip


BUILT_IN: dict[str, BackboneSpec] = {
    spec.name: spec
    for spec in (
        _lite(0, 224, "EfficientNet-Lite0: 1,280 features at 224², small and fast."),
        _lite(1, 240, "EfficientNet-Lite1: 1,280 features at 240², a little slower and better."),
        _lite(2, 260, "EfficientNet-Lite2: 1,280 features at 260², the largest that pip delivers."),
        BackboneSpec(
            "alexnet", 4096, 224, _MEAN, _STD,
            "AlexNet up to fc7: 4,096 features at 224², the one most hashing papers use.", least=63,
            architecture=f"{_HERE}.alexnet:AlexNet",
        ),
        BackboneSpec(
            "vgg19", 4096, 224, _MEAN, _STD, "VGG-19 up to fc7: 4,096 features at 224²; heavy.",
            architecture=f"{_HERE}.vgg:VGG19",
        ),
        # The published weights were trained on (x/255 − 0.5) / 0.5. torchvision's model rescales
        # input normalised in the usual way to that (`transform_input`); here the input already is.
        BackboneSpec(
            "googlenet", 1024, 224, (127.5,) * 3, (127.5,) * 3,
            "GoogLeNet with batch normalisation, after the average pool: 1,024 features at 224².",
            architecture=f"{_HERE}.googlenet:GoogLeNet",
        ),
    )
}  # fmt: skip

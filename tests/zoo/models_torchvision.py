"""Image models of torchvision with random weights, as small as the package allows."""

import rekindle
import samples
from registry import model

TORCHVISION = "torchvision"


def seen(module, size):
    """Returns the task of a model that is asked for the class of images of this size."""
    return rekindle.Task(module, data=samples.images(size), loss=samples.classify)


@model("tv_resnet18", needs=TORCHVISION)
def resnet18():
    from torchvision import models

    return seen(models.resnet18(num_classes=4), 64)


@model("tv_mobilenet_v3_small", needs=TORCHVISION)
def mobilenet_v3_small():
    from torchvision.models import mobilenetv3

    settings, _ = mobilenetv3._mobilenet_v3_conf("mobilenet_v3_small", width_mult=0.25)
    return seen(mobilenetv3.MobileNetV3(settings, 64, num_classes=4), 64)


@model("tv_efficientnet_b0", needs=TORCHVISION, tolerance=1e-2,
       why="its last batch norms divide by the spread of four values, which makes a rounding larger")
def efficientnet_b0():
    from torchvision.models import efficientnet

    settings, last = efficientnet._efficientnet_conf("efficientnet_b0", width_mult=0.25, depth_mult=0.5)
    return seen(efficientnet.EfficientNet(settings, 0.2, last_channel=last, num_classes=4), 64)


@model("tv_densenet121", needs=TORCHVISION)
def densenet121():
    from torchvision import models

    return seen(models.DenseNet(growth_rate=4, block_config=(6, 12, 24, 16), num_init_features=8, num_classes=4,
                                drop_rate=0.1), 64)


@model("tv_vit", needs=TORCHVISION)
def vit():
    from torchvision import models

    return seen(models.VisionTransformer(32, 8, num_layers=2, num_heads=4, hidden_dim=32, mlp_dim=48, dropout=0.1,
                                         num_classes=4), 32)


@model("tv_swin", needs=TORCHVISION)
def swin():
    from torchvision import models

    return seen(models.SwinTransformer([4, 4], 16, [2, 2], [2, 4], [4, 4], stochastic_depth_prob=0.3, num_classes=4),
                32)


@model("tv_convnext", needs=TORCHVISION)
def convnext():
    from torchvision.models import convnext as family

    blocks = [family.CNBlockConfig(12, 24, 2), family.CNBlockConfig(24, None, 2)]
    return seen(family.ConvNeXt(blocks, stochastic_depth_prob=0.3, layer_scale=0.1, num_classes=4), 32)


@model("tv_shufflenet_v2", needs=TORCHVISION)
def shufflenet_v2():
    from torchvision import models

    return seen(models.ShuffleNetV2([2, 3, 2], [8, 16, 32, 64, 128], num_classes=4), 64)


@model("tv_regnet", needs=TORCHVISION)
def regnet():
    from torchvision.models import regnet as family

    parameters = family.BlockParams.from_init_params(depth=4, w_0=16, w_a=8.0, w_m=2.0, group_width=8, se_ratio=0.25)
    return seen(family.RegNet(parameters, num_classes=4, stem_width=8), 64)


@model("tv_segmentation", needs=TORCHVISION)
def segmentation():
    """Names the class of each pixel by a head on MobileNetV3, and counts the pixels."""
    from torch.nn import functional
    from torchvision.models import _utils, mobilenetv3
    from torchvision.models.segmentation import lraspp

    settings, _ = mobilenetv3._mobilenet_v3_conf("mobilenet_v3_small", width_mult=0.25, dilated=True)
    body = mobilenetv3.MobileNetV3(settings, 64).features
    backbone = _utils.IntermediateLayerGetter(body, {"1": "low", str(len(body) - 2): "high"})
    module = lraspp.LRASPP(backbone, settings[0].out_channels, settings[-1].out_channels, 3, inter_channels=16)

    def loss(module, batch):
        wanted = (batch["x"].mean(1) > 0.5).long() + (batch["x"][:, 0] > 1).long()
        value = functional.cross_entropy(module(batch["x"])["out"], wanted, reduction="sum")
        return rekindle.Sum(value, wanted.numel())

    return rekindle.Task(module, data=samples.images(64), loss=loss, couples_samples=True)

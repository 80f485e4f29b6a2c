"""Whole models for scripts/compare-pytorch: a skeleton's graph with random weights beside the same architecture of torchvision or transformers."""
import numpy as np

import torchcases
from torchcases import Case, compiled, half, random, single


def whole(name, skeleton, shapes, arrays, outputs, build, call, kind=half):
    """`build` makes PyTorch's model, and `call` runs it on the inputs; a peer's weights are random as well, and of `kind`."""
    def peers(*inputs):
        import torch
        torch.manual_seed(0)
        network = build().to("cuda", getattr(torch, kind)).eval()
        eager = lambda: call(network, *inputs)
        return {"eager": eager, "torch.compile": compiled(eager)}
    return Case("models", name, arrays, outputs, peers, path=skeleton, shapes=shapes)


def bert(folder, batch, length, kind=half):
    name = "bert_base_fp16" if kind == half else "bert_base"

    def build():
        import transformers
        return transformers.BertModel(transformers.BertConfig())
    ids = lambda: np.random.default_rng(0).integers(0, 30000, (batch, length))
    return whole(f"{name} {batch}x{length}", f"{folder}/{name}.onnx", f"input_ids:{batch}x{length},attention_mask:{batch}x{length}",
                 lambda: [ids(), np.ones((batch, length), np.int64)], [(kind, (batch, length, 768))], build,
                 lambda network, i, mask: network(input_ids=i, attention_mask=mask)[0], kind)


def image(folder, name, skeleton, batch, build, channelsLast=False):
    shape = (batch, 3, 224, 224)

    def call(network, x):
        if channelsLast:
            import torch
            network.to(memory_format=torch.channels_last)
            x = x.contiguous(memory_format=torch.channels_last)
        return network(x)
    return whole(f"{name} {batch}", f"{folder}/{skeleton}.onnx", "input:" + "x".join(map(str, shape)), lambda: [random(half, *shape)],
                 [(half, (batch, 1000))], build, call)


def llama(folder, past, layers=4, heads=32, groups=8, size=64, vocabulary=32000):
    """One token after `past` others. The skeleton returns the caches with the token's keys and values."""
    cache = (1, groups, past, size)

    def arrays():
        caches = [random(half, *cache, seed=i) for i in range(2 * layers)]
        return [np.array([[17]]), np.array([[past]]), *caches]

    def build():
        import transformers
        return transformers.LlamaForCausalLM(transformers.LlamaConfig(
            vocab_size=vocabulary, hidden_size=heads * size, intermediate_size=8192, num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=groups))

    def call(network, ids, positions, *caches):
        import transformers
        cache = transformers.DynamicCache()
        for layer in range(layers):
            cache.update(caches[2 * layer], caches[2 * layer + 1], layer)
        return network(input_ids=ids, position_ids=positions, past_key_values=cache, use_cache=True).logits
    shapes = ",".join(["input_ids:1x1", "position_ids:1x1"] + [f"past_{what}_{i}:1x{groups}x{past}x{size}" for i in range(layers) for what in ("key", "value")])
    outputs = [(half, (1, 1, vocabulary)), *[(half, (1, groups, past + 1, size))] * (2 * layers)]
    return whole(f"llama {layers} layers, 1 token after {past}", f"{folder}/llama_decode_fp16.onnx", shapes, arrays, outputs, build, call)


def models(folder):
    def torchvision(name):
        def build():
            import torchvision
            return getattr(torchvision.models, name)()
        return build
    return [*(bert(folder, batch, 128) for batch in (1, 8)), bert(folder, 1, 128, single), bert(folder, 8, 128, single), llama(folder, 512),
            image(folder, "vit_b_16_fp16", "tv_vit_b_16_fp16", 1, torchvision("vit_b_16")),
            *(image(folder, "resnet50_fp16", "tv_resnet50_fp16", batch, torchvision("resnet50"), channelsLast=True) for batch in (1, 32))]

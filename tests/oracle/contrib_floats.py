"""Cases of com.microsoft: fused operators of floats, and attention."""
import numpy as np

from oraclecase import case, Node, const, f32, u8, i8, pick, scale


@case
def simplified_layer_normalization(r):
    shape = tuple(r.integers(1, 9, 3))
    return Node("SimplifiedLayerNormalization", [f32(r, *shape), f32(r, shape[-1])], domain="", epsilon=1e-5, axis=-1, outputs=pick(r, 1, 2))


@case
def old_layer_normalization(r):
    shape = tuple(r.integers(1, 9, 3))
    return Node("LayerNormalization", [f32(r, *shape), f32(r, shape[-1]), f32(r, shape[-1])], domain="", opset=11, epsilon=1e-5)


@case
def skip_layer_normalization(r):
    b, s, h = r.integers(1, 9, 3)
    skip = pick(r, (b, s, h), (1, s, h), (s, h))
    return Node("SkipLayerNormalization",
                [f32(r, b, s, h), f32(r, *skip), f32(r, h), pick(r, None, f32(r, h)), pick(r, None, f32(r, h))],
                outputs=pick(r, ["y"], ["y", "", "", "sum"]), epsilon=1e-5)


@case
def skip_simplified_layer_normalization(r):
    b, s, h = r.integers(1, 9, 3)
    return Node("SkipSimplifiedLayerNormalization", [f32(r, b, s, h), f32(r, b, s, h), f32(r, h), pick(r, None, f32(r, h))],
                outputs=pick(r, ["y"], ["y", "", "", "sum"]), epsilon=1e-5)


@case
def embed_layer_normalization(r):
    b, s, h, segments = r.integers(1, 5), r.integers(1, 9), r.integers(1, 20), pick(r, True, False)
    mask = (np.arange(s)[None] < r.integers(0, s + 1, (b, 1))).astype(np.int32)
    return Node("EmbedLayerNormalization",
                [r.integers(0, 11, (b, s)).astype(np.int32), r.integers(0, 2, (b, s)).astype(np.int32) if segments else None,
                 const(f32(r, 11, h)), const(f32(r, 16, h)), const(f32(r, 2, h)) if segments else None, const(f32(r, h)), const(f32(r, h)),
                 pick(r, None, mask), pick(r, None, r.integers(0, 16, (b, s)).astype(np.int32))], outputs=2, epsilon=1e-5)


@case
def gelus(r):
    op, h = pick(r, "Gelu", "FastGelu", "BiasGelu", "QuickGelu"), r.integers(1, 20)
    x = f32(r, 3, 2, h)
    if op == "QuickGelu":
        return Node(op, [x], alpha=float(r.uniform(0.5, 2)))
    return Node(op, [x] + ([f32(r, h)] if op == "BiasGelu" or (op == "FastGelu" and pick(r, 0, 1)) else []))


@case
def fused_matmul(r):
    m, k, n, b, c = r.integers(1, 9, 5)
    ta, tb = pick(r, 0, 1), pick(r, 0, 1)
    if pick(r, 0, 1):
        batch_a, batch_b = pick(r, 0, 1), pick(r, 0, 1)
        matrix_a = [k, m] if ta else [m, k]
        matrix_b = [n, k] if tb else [k, n]
        a, w = [b, c] + matrix_a, [b, c] + matrix_b
        if batch_a:  # the first matrix dimension goes to the front
            a = [matrix_a[0], b, c, matrix_a[1]]
        if batch_b:
            w = [matrix_b[0], b, c, matrix_b[1]]
        return Node("FusedMatMul", [f32(r, *a), f32(r, *w)], transA=ta, transB=tb, transBatchA=batch_a, transBatchB=batch_b,
                    alpha=float(r.uniform(0.5, 2)))
    a, w = ([b, k, m] if ta else [b, m, k]), ([n, k] if tb else [k, n])
    return Node("FusedMatMul", [f32(r, *a), f32(r, *w)], transA=ta, transB=tb, alpha=float(r.uniform(0.5, 2)))


@case
def fused_gemm(r):
    m, k, n = r.integers(1, 9, 3)
    ta, tb, activation = pick(r, 0, 1), pick(r, 0, 1), pick(r, "Relu", "LeakyRelu", "Tanh", "Sigmoid", "HardSigmoid")
    extra = {}
    if activation in ("LeakyRelu", "HardSigmoid"):
        extra["activation_alpha"] = 0.3
    if activation == "HardSigmoid":
        extra["activation_beta"] = 0.4
    return Node("FusedGemm", [f32(r, *((k, m) if ta else (m, k))), f32(r, *((n, k) if tb else (k, n))), pick(r, None, f32(r, n), f32(r, m, n))],
                transA=ta, transB=tb, alpha=0.7, beta=1.3, activation=activation, **extra)


def activation_of(r):
    name = pick(r, "", "Relu", "Tanh", "Sigmoid", "Clip", "LeakyRelu", "HardSigmoid")
    parameters = {"Clip": [-0.5, 0.6], "LeakyRelu": [0.2], "HardSigmoid": [0.3, 0.4]}.get(name)
    attributes = {"activation": name} if name else {}
    if parameters:
        attributes["activation_params"] = parameters
    return attributes


@case
def fused_conv(r):
    n, g, c, m, k = r.integers(1, 3), pick(r, 1, 2), r.integers(1, 4), r.integers(1, 4), pick(r, 1, 3)
    h, w, p = r.integers(4, 9), r.integers(4, 9), k // 2
    attributes = activation_of(r)
    inputs = [f32(r, n, g * c, h, w), const(f32(r, g * m, c, k, k)), const(f32(r, g * m))]
    if pick(r, 0, 1):
        inputs.append(f32(r, n, g * m, h, w))
    return Node("FusedConv", inputs, kernel_shape=[k, k], pads=[p] * 4, group=g, **attributes)


@case
def nhwc_max_pool(r):
    return Node("NhwcMaxPool", [pick(r, u8, i8)(r, 2, 7, 8, 3)], kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])


@case
def inverse(r):
    n = r.integers(1, 6)
    return Node("Inverse", [f32(r, 2, n, n) + 3 * np.eye(n, dtype=np.float32)])


@case
def small_copies(r):
    which = r.integers(6)
    if which == 0:
        return Node("ExpandDims", [f32(r, 3, 4), const(np.int32(pick(r, -1, 0, 1, 2)))])
    if which == 1:
        return Node("Pad", [f32(r, 3, 4), const(np.array([1, 0, 2, 1])), const(np.float32(2.5))], mode="constant")
    if which == 2:
        return Node("Unique", [r.integers(0, 5, 9).astype(np.float32)], outputs=3)
    if which == 3:
        return Node("Trilu", [f32(r, 2, 4, 5), const(np.array(pick(r, -1, 0, 2)))], upper=pick(r, 0, 1))
    if which == 4:
        return Node("GatherND", [f32(r, 3, 4, 2), r.integers(0, 3, (2, 2))])
    return Node("GridSample", [f32(r, 1, 2, 4, 5), r.uniform(-1.1, 1.1, (1, 3, 3, 2)).astype(np.float32)], mode=pick(r, "bilinear", "nearest"),
                padding_mode=pick(r, "zeros", "border", "reflection"))


@case
def n_gram_repeat_block(r):
    return Node("NGramRepeatBlock", [r.integers(0, 3, (2, 9)), f32(r, 2, 5)], ngram_size=int(pick(r, 1, 2, 3)))


@case
def crop_and_resize(r):
    corners = np.sort(r.uniform(-0.1, 1.1, (3, 2, 2)), axis=1).reshape(3, 4).astype(np.float32)
    return Node("CropAndResize", [f32(r, 2, 3, 6, 7), corners, r.integers(0, 2, 3).astype(np.int32), const(np.array([3, 4], np.int32))],
                mode=pick(r, "bilinear", "nearest"), extrapolation_value=0.5)


@case
def conv_transpose_with_dynamic_pads(r):
    return Node("ConvTransposeWithDynamicPads", [f32(r, 1, 2, 5, 5), f32(r, 2, 3, 3, 3), const(np.array([1, 1, 1, 0])), f32(r, 3)],
                strides=[2, 2], kernel_shape=[3, 3])


# ---- Attention ---------------------------------------------------------------------------------------------------------------


def mask_of(r, b, s, t, left=True):
    lengths = r.integers(1, t + 1, b).astype(np.int32)
    ones = (np.arange(t)[None] < lengths[:, None]).astype(np.int32)
    forms = [None, lengths, ones, np.broadcast_to(ones[:, None], (b, s, t)).copy()]
    if left:
        forms.append(np.concatenate([lengths, r.integers(0, lengths)]).astype(np.int32))
    return forms[r.integers(len(forms))]


@case
def attention(r):
    b, s, heads, d, hidden = r.integers(1, 4), r.integers(1, 7), r.integers(1, 4), 2 * r.integers(1, 5), r.integers(1, 9)
    past = pick(r, 0, 0, 3)
    inputs = [f32(r, b, s, hidden), const(f32(r, hidden, 3 * heads * d)), const(f32(r, 3 * heads * d)), mask_of(r, b, s, s + past, past == 0)]
    inputs.append(f32(r, 2, b, heads, past, d) if past else None)
    inputs.append(pick(r, None, f32(r, pick(r, 1, b), heads, s, s + past)))
    extra = pick(r, {}, {"scale": 0.3})
    return Node("Attention", inputs, outputs=2 if past else 1, num_heads=int(heads), unidirectional=pick(r, 0, 1), **extra)


@case
def attention_unequal(r):
    b, s, hidden = 2, 5, 8
    return Node("Attention", [f32(r, b, s, hidden), const(f32(r, hidden, 8 + 8 + 12)), const(f32(r, 28))], num_heads=2,
                qkv_hidden_sizes=[8, 8, 12])


@case
def multi_head_attention(r):
    b, s, t, heads, d, dv = r.integers(1, 4), r.integers(1, 7), r.integers(1, 7), r.integers(1, 4), 2 * r.integers(1, 5), r.integers(1, 5)
    form = pick(r, "plain", "past", "cross")  # ONNX Runtime packs queries, keys and values on GPUs only
    extra = pick(r, {}, {"scale": 0.3})
    if form == "past":
        past = 3
        return Node("MultiHeadAttention",
                    [f32(r, b, s, heads * d), f32(r, b, s, heads * d), f32(r, b, s, heads * d), pick(r, None, f32(r, 3 * heads * d)), None,
                     pick(r, None, f32(r, pick(r, 1, b), pick(r, 1, heads), s, s + past)), f32(r, b, heads, past, d), f32(r, b, heads, past, d)],
                    outputs=3, num_heads=int(heads), unidirectional=pick(r, 0, 1), **extra)
    if form == "cross":
        return Node("MultiHeadAttention", [f32(r, b, s, heads * d), f32(r, b, heads, t, d), f32(r, b, heads, t, d)], num_heads=int(heads), **extra)
    mask = mask_of(r, b, s, t, False)
    return Node("MultiHeadAttention",
                [f32(r, b, s, heads * d), f32(r, b, t, heads * d), f32(r, b, t, heads * dv), pick(r, None, f32(r, heads * (2 * d + dv))), mask,
                 pick(r, None, f32(r, pick(r, 1, b), pick(r, 1, heads), s, t))],
                num_heads=int(heads), unidirectional=pick(r, 0, 1) if s == t else 0, **extra)


@case
def group_query_attention(r):
    b, groups, shared, d = r.integers(1, 4), r.integers(1, 3), r.integers(1, 4), 16 * r.integers(1, 3)
    heads = groups * shared
    prompt = pick(r, True, False)
    s = r.integers(1, 7) if prompt or b == 1 else 1
    past = 0 if prompt else r.integers(1, 6)
    total = past + s
    buffer = pick(r, past, past + s + 3)  # what is there, or a buffer of the longest length
    lengths = np.full(b, total - 1, np.int32)  # shorter prompts leave what nobody reads behind them
    if not prompt and b > 1:
        lengths = r.integers(0, total, b).astype(np.int32)
        lengths[0] = total - 1
    packed, rotary = pick(r, True, False), pick(r, True, False)
    query = f32(r, b, s, (heads + 2 * groups) * d) if packed else f32(r, b, s, heads * d)
    keys = None if packed else f32(r, b, s, groups * d)
    values = None if packed else f32(r, b, s, groups * d)
    inputs = [query, keys, values, f32(r, b, groups, buffer, d) if buffer else None, f32(r, b, groups, buffer, d) if buffer else None, lengths,
              const(np.int32(total))]
    if rotary:
        angle = np.outer(np.arange(32), 1 / 100 ** (np.arange(d // 2) / (d // 2)))
        inputs += [const(np.cos(angle).astype(np.float32)), const(np.sin(angle).astype(np.float32))]
    else:
        inputs += [None, None]
    inputs += [None, pick(r, None, f32(r, 1, pick(r, 1, heads), s, total)), pick(r, None, const(f32(r, heads)))]
    extra = pick(r, {}, {"scale": 0.3}, {"softcap": 5.0}, {"local_window_size": int(r.integers(1, 5))}, {"smooth_softmax": 1})
    return Node("GroupQueryAttention", inputs, outputs=3, num_heads=int(heads), kv_num_heads=int(groups), do_rotary=int(rotary),
                rotary_interleaved=pick(r, 0, 1), **extra)


@case
def rotary_embedding(r):
    b, s, heads, d = r.integers(1, 4), r.integers(1, 7), r.integers(1, 4), 8 * r.integers(1, 3)
    part = pick(r, 0, d // 2)
    angle = r.uniform(0, 6, (16, (part or d) // 2))
    x = f32(r, b, s, heads * d) if part or pick(r, 0, 1) else f32(r, b, heads, s, d)
    positions = pick(r, r.integers(0, 16, (b, s)), np.array([r.integers(0, 16 - s)]))
    extra = {"rotary_embedding_dim": int(part), "num_heads": int(heads)} if part else {}
    return Node("RotaryEmbedding", [x, positions, const(np.cos(angle).astype(np.float32)), const(np.sin(angle).astype(np.float32))],
                interleaved=pick(r, 0, 1), **extra)


@case
def quantized_attention(r):
    b, s, heads, d, hidden = r.integers(1, 4), r.integers(1, 7), r.integers(1, 4), 2 * r.integers(1, 5), r.integers(1, 9)
    return Node("QAttention", [u8(r, b, s, hidden), const(pick(r, u8, i8)(r, hidden, 3 * heads * d) // 8), const(f32(r, 3 * heads * d)),
                               const(np.float32(0.01)), const(np.float32(0.02)), pick(r, None, r.integers(1, s + 1, b).astype(np.int32)),
                               const(np.uint8(120))], num_heads=int(heads), unidirectional=pick(r, 0, 1))

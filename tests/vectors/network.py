"""The sum that dp-net-grad must give, by NumPy, one example after the other: reads rows and labels of a data set, clips each
example's negative gradient of the loss, and prints the sum over all rows in units of the grid. A row with a gradient that is
not finite adds nothing.

    network.py DATA NETWORK CLIP GRID [softmax|squared] < parameters, one number a line

squared: with several outputs, output k has the target 1 for label k and −1 otherwise; with one, the target is the label.

All layers of nets/net.h. A layer is a function that returns its output and a function from the slope of the output to the
slopes of the input and of the parameters."""
import sys

import numpy as np


def windows(x, size, stride):
    """Views of x (rows, columns, channels): out rows, out columns, size, size, channels."""
    v = np.lib.stride_tricks.sliding_window_view(x, (size, size), axis=(0, 1))[::stride, ::stride]
    return v.transpose(0, 1, 3, 4, 2)


def spread(slopes, shape, size, stride):
    """The slope of the input from the slopes of its windows."""
    to = np.zeros(shape)
    for i in range(slopes.shape[0]):
        for j in range(slopes.shape[1]):
            to[i * stride:i * stride + size, j * stride:j * stride + size] += slopes[i, j]
    return to


def conv(x, w, outputs, size, stride, pad):
    x = np.pad(x, ((pad, pad), (pad, pad), (0, 0)))
    f, b = w[:-outputs].reshape(outputs, size, size, -1), w[-outputs:]
    v = windows(x, size, stride)

    def back(d):
        dx = spread(np.einsum("ijo,oabc->ijabc", d, f), x.shape, size, stride)
        own = np.concatenate([np.einsum("ijo,ijabc->oabc", d, v).ravel(), d.sum((0, 1))])
        return dx[pad:dx.shape[0] - pad, pad:dx.shape[1] - pad], own
    return np.einsum("ijabc,oabc->ijo", v, f) + b, back


def fc(x, w, outputs):
    f, b = w[:-outputs].reshape(outputs, -1), w[-outputs:]

    def back(d):
        return (d.ravel() @ f).reshape(x.shape), np.concatenate([np.outer(d, x).ravel(), d.ravel()])
    return (f @ x.ravel() + b).reshape(1, 1, -1), back


def pool(x, size, stride, mean):
    v = windows(x, size, stride)
    flat = v.reshape(*v.shape[:2], -1, v.shape[4])
    share = np.full(flat.shape, 1 / flat.shape[2]) if mean else flat.argmax(2)[:, :, None] == np.arange(flat.shape[2])[:, None]

    def back(d):
        return spread((share * d[:, :, None]).reshape(v.shape), x.shape, size, stride), np.zeros(0)
    return (flat * share).sum(2), back


def norm(x, w, groups):
    a, b = w.reshape(2, -1)
    shape = (*x.shape[:2], groups, -1)
    g = x.reshape(shape)
    root = np.sqrt(g.var((0, 1, 3), keepdims=True) + 1e-5)
    h = ((g - g.mean((0, 1, 3), keepdims=True)) / root).reshape(x.shape)

    def back(d):
        e, hg = (d * a).reshape(shape), h.reshape(shape)
        dx = e - e.mean((0, 1, 3), keepdims=True) - hg * (e * hg).mean((0, 1, 3), keepdims=True)
        return (dx / root).reshape(x.shape), np.concatenate([(d * h).sum((0, 1)), d.sum((0, 1))])
    return h * a + b, back


def step(word, rest, x, saved, w):
    """Output, back and number of parameters of one layer, without its activation."""
    if word == "add":
        return x + saved, None, 0
    if word == "norm":
        n = 2 * x.shape[2]
        return *norm(x, w[:n], int(rest[0])), n
    if word == "fc":
        n = int(rest[0]) * (x.size + 1)
        return *fc(x, w[:n], int(rest[0])), n
    size, _, stride = rest[1 if word == "conv" else 0].partition("/")
    size = int(size.split("x")[0])
    if word != "conv":
        return *pool(x, size, int(stride or size), word == "mean-pool"), 0
    pad = int(rest[rest.index("pad") + 1]) if "pad" in rest else 0
    n = int(rest[0]) * (size * size * x.shape[2] + 1)
    return *conv(x, w[:n], int(rest[0]), size, int(stride or 1), pad), n


def slope(loss, u, label):
    """Of −log softmax, or of half the squared distance to the targets."""
    if loss == "squared":
        return u - (label if len(u) == 1 else np.where(np.arange(len(u)) == label, 1, -1))
    d = np.exp(u - u.max())
    d /= d.sum()
    d[int(label)] -= 1
    return d


def gradient(layers, x, label, w, loss):
    """Slopes of the loss by all parameters."""
    kept, trace, at, saved = {}, [], 0, 0
    for index, (word, *rest) in enumerate(layers):
        if word == "save":
            kept[index], saved = x, index
            trace.append(("save", index, None, None, 0, None))
            continue
        y, back, n = step(word, rest, x, kept.get(saved), w[at:])
        y = np.tanh(y) if "tanh" in rest else np.maximum(y, 0) if "relu" in rest else y
        trace.append((word, saved, rest, back, at, y))
        x, at = y, at + n
    d, own, extra = slope(loss, x.ravel(), label).reshape(1, 1, -1), np.zeros(len(w)), {}
    for word, save, rest, back, at, y in reversed(trace):
        if word == "save":
            d = d + extra[save]
            continue
        d = d * (1 - y * y) if "tanh" in rest else d * (y > 0) if "relu" in rest else d
        if word == "add":
            extra[save] = d
            continue
        d, mine = back(d)
        own[at:at + len(mine)] = mine
    return own


def main():
    data, text, clip, grid = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
    loss = sys.argv[5] if len(sys.argv) > 5 else "softmax"
    weights = [float(v) for v in sys.argv[6].split(",")] if len(sys.argv) > 6 else None
    w = np.loadtxt(sys.stdin).astype(np.float32).astype(float)
    shape, *layers = [part.split() for part in text.split(";")]
    x, y = np.load(data + "/X.npy").astype(float), np.load(data + "/y.npy").astype(float)
    total = np.zeros(len(w))
    for row, label in zip(x, y):
        g = gradient(layers, row.reshape([int(n) for n in shape[0].split("x")]), label, w, loss)
        g *= weights[int(label)] if weights else 1
        norm = np.linalg.norm(g)
        if np.isfinite(norm):
            total -= np.trunc(g * min(1, clip / norm) / grid)
    print(*total.astype(int), sep="\n")


main()

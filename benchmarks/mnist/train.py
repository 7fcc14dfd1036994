"""Trains the model of the MNIST entry: pixels, a product, a square, a product, all in integers.

    python train.py RAW_DIRECTORY model.json

RAW_DIRECTORY holds the four files of MNIST in their first form (train-images-idx3-ubyte, ..), as
torchvision leaves them in MNIST/raw. Needs NumPy alone. The model is written with its accuracy on
the test images.

Score c of an image is sum_h V[c][h] * (sum_p W[h][p] * x[p] + b[h])^2 + d[c], where x are the
pixels of the central PIXELS x PIXELS from 0 to SENT, and every weight is an integer. Training is
in two rounds: weights in floating point, then weights that are rounded in the forward pass and
improved as if they were not, both with pixels from 0 to LEVELS. In the end biases are scaled to
pixels from 0 to SENT: scores of all pictures, not just of digits, then fit a small modulus.
"""

import argparse
import json
import struct
import sys
from pathlib import Path

import numpy as np

SIDE = 28
PIXELS = 24
LEVELS = 7
SENT = 3
BATCH = 100


def images(directory, name):
    """Reads pictures: ``(count, 28, 28)`` bytes."""
    data = (directory / f"{name}-images-idx3-ubyte").read_bytes()
    _, count, height, width = struct.unpack(">IIII", data[:16])
    assert (height, width) == (SIDE, SIDE)
    return np.frombuffer(data, np.uint8, offset=16).reshape(count, SIDE, SIDE)


def labels(directory, name):
    """Reads which digits they show."""
    return np.frombuffer(
        (directory / f"{name}-labels-idx1-ubyte").read_bytes(), np.uint8, offset=8
    ).astype(np.int64)


def features(pictures, levels=LEVELS):
    """Give pixels of the centre from 0 to levels, halves rounded up, as the client does."""
    border = (SIDE - PIXELS) // 2
    centre = pictures[:, border : SIDE - border, border : SIDE - border].reshape(len(pictures), -1)
    return (centre.astype(np.int64) * (2 * levels) + 255) // 510


def moved(pictures, rng):
    """Each picture rotated, sheared, scaled and shifted a little: bilinear."""
    count = len(pictures)
    angle, shear = rng.normal(0, 0.12, count), rng.normal(0, 0.12, count)
    scale = np.exp(rng.normal(0, 0.07, (2, count)))
    shift = rng.normal(0, 0.9, (2, count))
    centre = (SIDE - 1) / 2
    y, x = np.mgrid[0:SIDE, 0:SIDE].reshape(2, 1, -1) - centre
    cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
    v = (cos * y - sin * x) * scale[0][:, None] + centre + shift[0][:, None]
    u = (sin * y + cos * x + shear[:, None] * y) * scale[1][:, None] + centre + shift[1][:, None]
    v, u = np.clip(v, 0, SIDE - 1.001), np.clip(u, 0, SIDE - 1.001)
    top, left = v.astype(np.int32), u.astype(np.int32)
    down, right = (v - top).astype(np.float32), (u - left).astype(np.float32)
    flat = pictures.reshape(count, -1).astype(np.float32)

    def at(row, column):
        return np.take_along_axis(flat, row * SIDE + column, 1)

    upper = at(top, left) * (1 - right) + at(top, left + 1) * right
    lower = at(top + 1, left) * (1 - right) + at(top + 1, left + 1) * right
    return np.rint(upper * (1 - down) + lower * down).astype(np.uint8).reshape(count, SIDE, SIDE)


class Model:
    """Weights in floating point, with the steps that they are rounded to."""

    def __init__(self, hidden, rng):
        inputs = PIXELS * PIXELS
        self.parameters = [
            rng.normal(0, 1 / np.sqrt(inputs), (hidden, inputs)).astype(np.float32),
            np.zeros(hidden, np.float32),
            rng.normal(0, 0.3 / np.sqrt(hidden), (10, hidden)).astype(np.float32),
            np.zeros(10, np.float32),
        ]
        self.steps = None

    def freeze_steps(self, first_bits, second_bits):
        """Weights of each layer become integers of so many bits times a step."""
        w, _, v, _ = self.parameters
        bits = ((w, first_bits), (v, second_bits))
        self.steps = tuple(3.5 * x.std() / (2 ** (count - 1) - 1) for x, count in bits)
        self.limits = 2 ** (first_bits - 1) - 1, 2 ** (second_bits - 1) - 1

    def integers(self):
        """Give the rounded weights and biases."""
        w, b, v, d = self.parameters
        (first, second), (most_w, most_v) = self.steps, self.limits

        def rounded(x, step):
            return np.rint(x / step).astype(np.int64)

        return (
            np.clip(rounded(w, first), -most_w, most_w),
            rounded(b, first / LEVELS),
            np.clip(rounded(v, second), -most_v, most_v),
            rounded(d, second * (first / LEVELS) ** 2),
        )

    def effective(self):
        """Give the weights that a forward pass uses."""
        if self.steps is None:
            return self.parameters
        w, b, v, d = self.integers()
        first, second = self.steps
        unit = first / LEVELS
        return [np.float32(x) for x in (w * first, b * unit, v * second, d * (second * unit**2))]

    def gradients(self, x, y, smoothing):
        """Give the loss and its gradients: those of the rounded weights go to the others."""
        w, b, v, d = self.effective()
        h = x @ w.T + b
        scores = (h * h) @ v.T + d
        scores -= scores.max(1, keepdims=True)
        probability = np.exp(scores)
        probability /= probability.sum(1, keepdims=True)
        loss = -np.log(probability[np.arange(len(y)), y] + 1e-9).mean()
        target = np.full_like(probability, smoothing / 10)
        target[np.arange(len(y)), y] += 1 - smoothing
        error = (probability - target) / len(y)
        back = 2 * h * (error @ v)
        return loss, [back.T @ x, back.sum(0), error.T @ (h * h), error.sum(0)]


def scores(integers, x):
    """Score in whole numbers."""
    w, b, v, d = integers
    h = x @ w.T + b
    return (h * h) @ v.T + d


def coarser(integers, levels):
    """Give the network for pixels from 0 to levels instead of LEVELS: only biases change."""
    w, b, v, d = integers
    ratio = levels / LEVELS
    return w, np.rint(b * ratio).astype(np.int64), v, np.rint(d * ratio**2).astype(np.int64)


def record(integers, pictures, wanted):
    """Give what the file of the model holds, with its accuracy on these pictures."""
    results = scores(integers, features(pictures, SENT))
    w, b, v, d = (x.tolist() for x in integers)
    return {
        "side": PIXELS,
        "levels": SENT,
        "accuracy": float((results.argmax(1) == wanted).mean()),
        "largest_score": int(np.abs(results).max()),
        "first": w,
        "first_bias": b,
        "second": v,
        "second_bias": d,
    }


def train(model, data, epochs, rate, rng, *, report):
    """Improve the model: Adam, with a rate that falls along a cosine."""
    pictures, answers = data
    first = [np.zeros_like(p) for p in model.parameters]
    second = [np.zeros_like(p) for p in model.parameters]
    step, total = 0, epochs * (len(pictures) // BATCH)
    for epoch in range(epochs):
        order, losses = rng.permutation(len(pictures)), []
        for start in range(0, len(order), 50 * BATCH):
            chosen = order[start : start + 50 * BATCH]
            block = features(moved(pictures[chosen], rng)).astype(np.float32) / LEVELS
            for part in range(0, len(chosen), BATCH):
                loss, gradients = model.gradients(
                    block[part : part + BATCH], answers[chosen[part : part + BATCH]], 0.05
                )
                losses.append(loss)
                norm = np.sqrt(sum((g * g).sum() for g in gradients))
                step += 1
                now = rate * 0.5 * (1 + np.cos(np.pi * step / (total + 1)))
                for k, gradient in enumerate(gradients):
                    g = gradient * min(1, 1 / norm)
                    first[k] += 0.1 * (g - first[k])
                    second[k] += 0.001 * (g * g - second[k])
                    scale = np.sqrt(second[k] / (1 - 0.999**step)) + 1e-8
                    model.parameters[k] -= now * first[k] / (1 - 0.9**step) / scale
        report(epoch, np.mean(losses))


def main():
    """Train and write the model."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("raw", type=Path)
    arguments.add_argument("model", type=Path)
    arguments.add_argument("--hidden", type=int, default=64)
    arguments.add_argument(
        "--epochs", type=int, nargs=2, default=[40, 15], metavar=("FLOATING", "ROUNDED")
    )
    arguments.add_argument("--bits", type=int, nargs=2, default=[4, 4], metavar=("FIRST", "SECOND"))
    chosen = arguments.parse_args()

    rng = np.random.default_rng(14)
    pictures, answers = images(chosen.raw, "train"), labels(chosen.raw, "train")
    test, wanted = features(images(chosen.raw, "t10k")), labels(chosen.raw, "t10k")
    model = Model(chosen.hidden, rng)

    def report(epoch, loss):
        w, b, v, d = model.effective()
        h = (test / LEVELS) @ w.T + b
        right = ((h * h @ v.T + d).argmax(1) == wanted).mean()
        print(f"epoch {epoch + 1}: loss {loss:.4f}, test {right:.4f}", file=sys.stderr, flush=True)

    train(model, (pictures, answers), chosen.epochs[0], 2e-3, rng, report=report)
    model.freeze_steps(*chosen.bits)
    train(model, (pictures, answers), chosen.epochs[1], 5e-4, rng, report=report)

    written = record(coarser(model.integers(), SENT), images(chosen.raw, "t10k"), wanted)
    chosen.model.write_text(json.dumps(written, separators=(",", ":")) + "\n")
    print(
        f"accuracy {written['accuracy']:.4f}, scores up to {written['largest_score']}",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()

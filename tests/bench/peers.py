#!/usr/bin/env python3
"""peers.py WHAT ARGUMENT…: what others take for the same. Prints lines "what <tab> unit <tab> value", or a bare number of seconds."""
import sys
import time


def rows_of(path):
    import numpy
    y = numpy.load(path + "/y.npy")
    return numpy.load(path + "/X.npy").astype(numpy.float32), (y > y.min()).astype(numpy.float32)


def laps(step, count):
    """Microseconds a lap: the middle of some blocks of laps."""
    took = []
    for block in range(5):
        start = time.perf_counter()
        for _ in range(count):
            step()
        took.append((time.perf_counter() - start) / count)
    return 1e6 * sorted(took)[2]


def numpy_sgd(path, batch):
    """DP-SGD, logistic loss, in the lines that a user would write: Poisson batches, clipped gradients, Gaussian noise."""
    import numpy
    x, y = rows_of(path)
    draw = numpy.random.default_rng(1)
    w = numpy.zeros(x.shape[1], numpy.float32)
    rate = int(batch) / len(x)

    def step():
        at = numpy.flatnonzero(draw.random(len(x)) < rate)
        rows = x[at]
        slope = 1 / (1 + numpy.exp(-rows @ w)) - y[at]
        length = numpy.abs(slope) * numpy.linalg.norm(rows, axis=1)
        slope /= numpy.maximum(1, length)
        w[:] -= 0.5 / int(batch) * (slope @ rows + draw.normal(0, 1, len(w)))

    print(f"NumPy, batch {batch}\tµs a lap\t{laps(step, 300):.6g}")


def opacus(path, batch):
    import torch
    from opacus import PrivacyEngine
    torch.set_num_threads(1)
    x, y = rows_of(path)
    data = torch.utils.data.TensorDataset(torch.from_numpy(x), torch.from_numpy(y))
    loader = torch.utils.data.DataLoader(data, batch_size=int(batch))
    model = torch.nn.Linear(x.shape[1], 1, bias=False)
    model, optimizer, loader = PrivacyEngine().make_private(
        module=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.5), data_loader=loader, noise_multiplier=1.0,
        max_grad_norm=1.0)
    loss = torch.nn.BCEWithLogitsLoss()
    took = []
    for epoch in range(3):
        start = time.perf_counter()
        count = 0
        for rows, labels in loader:
            optimizer.zero_grad()
            loss(model(rows).squeeze(1), labels).backward()
            optimizer.step()
            count += 1
        took.append((time.perf_counter() - start) / count)
    print(f"Opacus, batch {batch}\tµs a lap\t{1e6 * sorted(took)[1]:.6g}")


def dp_accounting(rate, count, epsilon, delta):
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent, SelfComposedDpEvent, calibrate_dp_mechanism, pld
    top, _, bottom = rate.partition("/")
    q = float(top) / float(bottom or 1)
    start = time.perf_counter()
    calibrate_dp_mechanism(
        pld.PLDAccountant,
        lambda z: SelfComposedDpEvent(PoissonSampledDpEvent(q, GaussianDpEvent(z)), int(count)), float(epsilon), float(delta))
    print(time.perf_counter() - start)


def diffprivlib(path, epsilon):
    from diffprivlib.models import LogisticRegression
    x, y = rows_of(path)
    start = time.perf_counter()
    LogisticRegression(epsilon=float(epsilon), data_norm=1, fit_intercept=False).fit(x, y)
    print(time.perf_counter() - start)


def sgd_classifier(path, lam, cost):
    """scikit-learn's SGDClassifier, by numbers of epochs until its objective is within 1e-4 of the minimum, by its LinearSVC."""
    import warnings

    import numpy
    from sklearn.datasets import load_svmlight_file
    from sklearn.linear_model import SGDClassifier
    from sklearn.svm import LinearSVC
    warnings.simplefilter("ignore")
    x, y = load_svmlight_file(path)
    lam = float(lam)

    def objective(w):
        return lam / 2 * (w @ w) + numpy.maximum(0, 1 - y * (x @ w)).mean()

    least = objective(LinearSVC(loss="hinge", C=float(cost), tol=1e-3, max_iter=10000, fit_intercept=False).fit(x, y).coef_[0])
    for epochs in (1, 3, 10, 30, 100):
        model = SGDClassifier(loss="hinge", alpha=lam, fit_intercept=False, max_iter=epochs, tol=None, random_state=1)
        start = time.perf_counter()
        model.fit(x, y)
        took = time.perf_counter() - start
        above = objective(model.coef_[0]) - least
        if above <= 1e-4:
            break
    print(f"scikit-learn, SGDClassifier, {epochs} epochs, fit alone\ts\t{took:.6g}")
    print(f"SGDClassifier, {epochs} epochs, above the minimum\tof 1\t{above:.6g}")


if __name__ == "__main__":
    {"numpy-sgd": numpy_sgd, "opacus": opacus, "dp-accounting": dp_accounting, "diffprivlib": diffprivlib,
     "sgd-classifier": sgd_classifier}[sys.argv[1]](*sys.argv[2:])

#!/usr/bin/python3
"""A private stage: descent directions of the logistic loss at the rows of a batch, clipped and summed. It takes
the place of dp-grad(1); README.md has a run with it."""
import numpy as np

import dpline


class LogisticGrad(dpline.Stage):
    summary = "Steps along the gradient of the logistic loss at each row, clipped and summed"
    takes, gives = dpline.RAW, dpline.BOUNDED
    options = {"clip": (float, None, "L2 bound on the gradient of one person")}

    def hello(self, frame):
        self.announce(frame, "gradient", self.options.clip)

    def fire(self, frame):
        X, sign = frame["X"], 2 * frame["y"] - 1
        w = frame.get("model", np.zeros((1, X.shape[1])))
        with np.errstate(all="ignore"):  # a vector that is not finite adds nothing
            steps = sign / (1 + np.exp(sign * (X @ w[0])))
            frame.bound(steps[:, None] * X, self.options.clip)
        for field, value in (("method", "gradient"), ("family", "linear"), ("loss", "logistic"), ("loss_width", 1.0),
                             ("lambda", 0.0), ("scale", 1.0), ("model", w)):
            frame[field] = value
        self.emit(frame)


if __name__ == "__main__":
    LogisticGrad().main()

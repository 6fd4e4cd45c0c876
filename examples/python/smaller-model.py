#!/usr/bin/python3
"""A public stage: after dp-step(1), makes a model shorter that has left a ball around 0 (projected gradient descent). It sees
only what the gate has released, so it costs nothing."""
import numpy as np

import dpline


class SmallerModel(dpline.Stage):
    summary = "Keep the model in a ball"
    takes, gives = dpline.RELEASED, dpline.RELEASED
    options = {"radius": (float, None, "the largest L2 norm of the model")}

    def fire(self, frame):
        w = frame["model"]
        frame["model"] = w * min(1, self.options.radius / max(np.linalg.norm(w), 1e-300))
        self.emit(frame)


if __name__ == "__main__":
    SmallerModel().main()

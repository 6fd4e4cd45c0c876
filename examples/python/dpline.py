"""dpline for Python: private classifiers and regressors, privacy accounting, data sets, frames, and stages of your own.

One file. It needs NumPy, libdpline.so and the commands of dpline: those that pip installed with it, or of the source tree that it is in,
or else those in PATH. dpline(3), dp-dataset(5) and dp-frame(5) describe what is behind each function."""
import collections
import contextlib
import csv
import ctypes
import ctypes.util
import hashlib
import html
import inspect
import io
import itertools
import json
import os
import pathlib
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings

import numpy as np

INSIDE = pathlib.Path(__file__).resolve().parent / "dpline_tree"  # from a wheel with the commands
TREE = INSIDE.parents[2]


class Error(ValueError):
    """A failure of dpline; status is the exit status of dp-options(7): 3 if the budget has no room, 5 if a run is refused."""

    def __init__(self, message, status=1):
        super().__init__(message)
        self.status = status


class PrivacyWarning(UserWarning):
    """Something is not covered by epsilon."""


# --- the library ---------------------------------------------------------------------------------------------------------


class _CError(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("message", ctypes.c_char * 568)]


class _Query(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("multiplier", ctypes.c_double), ("epsilon", ctypes.c_double),
                ("query_epsilon", ctypes.c_double), ("rho", ctypes.c_double), ("most", ctypes.c_int64),
                ("unused", ctypes.c_double * 4)]


class _Charge(ctypes.Structure):
    _fields_ = [("laps", ctypes.c_int64), ("sampling", ctypes.c_int), ("rate", ctypes.c_double),
                ("epoch_laps", ctypes.c_int64), ("queries", ctypes.c_size_t), ("query", _Query * 4),
                ("unused", ctypes.c_double * 4)]


class _Bounds(ctypes.Structure):
    _fields_ = [("lower", ctypes.c_double), ("upper", ctypes.c_double)]


class _Array(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("dimensions", ctypes.c_int), ("size", ctypes.c_uint64 * 4),
                ("count", ctypes.c_size_t), ("data", ctypes.c_void_p)]


class _Option(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("letter", ctypes.c_char), ("kind", ctypes.c_int), ("offset", ctypes.c_size_t),
                ("metavar", ctypes.c_char_p), ("help", ctypes.c_char_p), ("fallback", ctypes.c_char_p),
                ("choices", ctypes.c_char_p), ("min", ctypes.c_double), ("max", ctypes.c_double), ("flags", ctypes.c_uint)]


_OPEN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_CError))
_FRAME = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(_CError))
_CLOSE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _StageClass(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("summary", ctypes.c_char_p), ("options", ctypes.POINTER(_Option)),
                ("options_size", ctypes.c_size_t), ("state_size", ctypes.c_size_t), ("takes", ctypes.c_uint),
                ("gives", ctypes.c_uint), ("open", _OPEN), ("hello", _FRAME), ("fire", _FRAME), ("drain", _OPEN),
                ("close", _CLOSE), ("ephemeral", ctypes.c_int), ("unused", ctypes.c_void_p * 6)]


def _load():
    beside = pathlib.Path(shutil.which("dp-fit") or __file__).resolve().parents[1]
    near = [str(path) for path in (tree / "lib" / "libdpline.so" for tree in (INSIDE, TREE / "build", beside)) if path.exists()]
    name = os.environ.get("DPLINE_LIBRARY") or (near or [ctypes.util.find_library("dpline")])[0]
    if name is None:
        raise ImportError("libdpline.so is not there: run make in the source tree of dpline and install this package again, or put the "
                          "commands of dpline in PATH, or set DPLINE_LIBRARY")
    library = ctypes.CDLL(name)
    if library.dpline_api() != 1:
        raise ImportError(f"{name} has interface {library.dpline_api()}, and this file is written for 1")
    for function, result in (("version", ctypes.c_char_p), ("grid_for", ctypes.c_double), ("frame_int", ctypes.c_int64),
                             ("frame_real", ctypes.c_double), ("frame_text", ctypes.c_char_p), ("frame_lap", ctypes.c_int64),
                             ("frame_record_real", ctypes.c_double), ("frame_record_text", ctypes.c_char_p),
                             ("stage_options", ctypes.c_void_p)):
        getattr(library, "dpline_" + function).restype = result
    return library


_library = _load()


def _call(function, *arguments):
    """Calls a function of dpline(3) that fills an error, and raises that error."""
    error = _CError()
    status = getattr(_library, "dpline_" + function)(*arguments, ctypes.byref(error))
    if status < 0:
        raise Error(error.message.decode(), -status)
    return status


def _environment():
    """The environment with the commands of dpline in PATH: those of the package before all others, those of the tree after them."""
    path = [INSIDE / "bin", INSIDE / "share/dpline/pipelines", os.environ.get("PATH", os.defpath), TREE / "build/bin", TREE / "pipelines"]
    return dict(os.environ, PATH=os.pathsep.join(map(str, path)))


def main():
    """The command dpline of a package that has the commands."""
    script = INSIDE / "share/dpline/pipelines/dpline"
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execve(script, [script, *sys.argv[1:]], _environment())


def _run(*words, text=None, cwd=None, doubt=None):
    """Runs a command of dpline and returns what it prints, and says. Its last sentence on standard error, with its warnings, becomes
    an Error; or a warning, up to its first point, if it contains `doubt`."""
    try:
        done = subprocess.run([str(word) for word in words], env=_environment(), cwd=cwd, input=text, capture_output=True,
                              encoding="utf-8", check=False)
    except FileNotFoundError:
        raise Error(f"{words[0]} is not in PATH") from None
    said = done.stderr.strip().splitlines()
    if doubt is not None and done.returncode != 0 and said and doubt in said[-1]:
        said[-1] = said[-1].split(". ")[0].replace(": ", ": warning: ", 1)
    elif done.returncode != 0:
        said = [line for line in said[:-1] if ": warning: " in line] + (said[-1:] or [f"{words[0]} failed"])
        raise Error("\n".join(said), done.returncode)
    return done.stdout, said


# --- accounting ----------------------------------------------------------------------------------------------------------

_KINDS = ["", "gaussian", "laplace", "pure", "sparse-laplace", "sparse-gaussian", "discrete-laplace", "gamma"]
_SAMPLINGS = ["none", "poisson", "substituted", "shuffled", "visible"]


def query(kind="gaussian", *, multiplier=0, epsilon=0, query_epsilon=0, rho=0, most=0):
    """A query of a charge, with the members of its kind as in dpline(3)."""
    return _Query(_KINDS.index(kind), multiplier, epsilon, query_epsilon, rho, most)


def charge(laps, *queries, multiplier=None, sampling=None, rate=1, epoch_laps=0):
    """Equal laps: charge(1000, multiplier=1.1, rate=0.01) is Gaussian noise on Poisson samples."""
    queries = queries or (query(multiplier=multiplier),)
    sampling = sampling or ("none" if rate == 1 else "poisson")
    return _Charge(laps, _SAMPLINGS.index(sampling), rate, epoch_laps, len(queries), (_Query * 4)(*queries))


@contextlib.contextmanager
def _account(charges):
    account = ctypes.c_void_p()
    _call("account_new", ctypes.byref(account))
    try:
        for one in [charges] if isinstance(charges, _Charge) else charges:
            _call("account_add", account, ctypes.byref(one))
        yield account
    finally:
        _library.dpline_account_free(account)


def epsilon_of(charges, delta=1e-5):
    """The epsilon, in nats, that all charges cost together at delta: an upper bound."""
    bounds = _Bounds()
    with _account(charges) as account:
        _call("account_epsilon", account, ctypes.c_double(delta), ctypes.byref(bounds))
    return bounds.upper


def noise_for(charges, epsilon, delta=1e-5):
    """The factor for the multipliers of the charges with which they cost epsilon at delta."""
    factor = ctypes.c_double()
    with _account(charges) as account:
        _call("account_stretch", account, ctypes.c_double(epsilon), ctypes.c_double(delta), ctypes.byref(factor))
    return factor.value


# --- data sets: dp-dataset(5) --------------------------------------------------------------------------------------------


def write_dataset(path, X, y, *, classes=None, population=None, names=None, label="y", label_scale=1, label_offset=0, **more):
    """Writes a data set of dense rows, in format 1. With classes (names, in order) y has their numbers, else values in [-1, 1].
    Each row has an L2 norm of at most 1, as float32. more: other members of dataset.json, such as row_norm."""
    X, y = np.ascontiguousarray(X, "<f4"), np.ascontiguousarray(y, "<f8")
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise Error(f"rows of shape {X.shape} and labels of shape {y.shape}")
    if not (np.isfinite(y).all() and ((X.astype("f8") ** 2).sum(axis=1) * (1 + (X.shape[1] + 17) * 2.0**-52) <= 1).all()):
        raise Error("a row is longer than 1, or something is not finite")
    if classes is not None and not np.isin(y, np.arange(len(classes))).all():
        raise Error(f"a label is not the number of one of the {len(classes)} classes")
    salt = secrets.token_bytes(32)
    digest = hashlib.blake2b(digest_size=16, key=salt)
    for start in range(0, len(X), 65536):
        rows = np.ascontiguousarray(X[start:start + 65536]).view("u1").reshape(-1, 4 * X.shape[1])
        digest.update(np.hstack([rows, y[start:start + 65536, None].view("u1")]).tobytes())
    digest.update(np.array(X.shape, "<u8").tobytes())
    about = {"format": 1, "rows": X.shape[0], "cols": X.shape[1], "storage": "dense", "row_norm": "none", "bias": False,
             "held_out": False, "private_preprocessing": [], **more, "salt": salt.hex(), "digest": digest.hexdigest(),
             "names": list(names) if names is not None else [f"x{j + 1}" for j in range(X.shape[1])],
             "label": {"name": label, "kind": "real", "scale": label_scale, "offset": label_offset}}
    if classes is not None:
        about["label"] = {"name": label, "kind": "classes", "classes": [str(c) for c in classes]}
    if population is not None:
        about["population"] = population
    os.mkdir(path, 0o700)
    np.save(os.path.join(path, "X.npy"), X)
    np.save(os.path.join(path, "y.npy"), y)
    with open(os.path.join(path, "dataset.json"), "w", encoding="utf-8") as f:
        json.dump(about, f)


def read_dataset(path):
    """X (float32, dense), y and the description of a data set."""
    def array(name):
        return np.load(os.path.join(path, name + ".npy"), mmap_mode="r")
    with open(os.path.join(path, "dataset.json"), encoding="utf-8") as f:
        about = json.load(f)
    if about["format"] > 2:
        raise Error(f"{path} has format {about['format']}, and this file knows 1 and 2")
    if about["storage"] == "csr":
        indptr = array("X_indptr")
        X = np.zeros((about["rows"], about["cols"]), "f4")
        X[np.repeat(np.arange(len(X)), np.diff(indptr)), array("X_indices")] = array("X_data")
    else:
        X = array("X") if about["storage"] == "dense" else array("X_i16") * array("scales")
    return X, array("y"), about


# --- frames: dp-frame(5) -------------------------------------------------------------------------------------------------

HELLO, LAP, END, FAILURE = range(4)
RAW, BOUNDED, NOISED, RELEASED = 1, 2, 4, 8
_TYPES = [None, "<f4", "<f8", "<i4", "<i8"]


class Frame:
    """A frame by the names of its fields: frame["model"] is an array, frame["loss"] a text. An array is a copy."""

    def __init__(self, pointer=None):
        self.pointer, self.owned = ctypes.c_void_p(pointer), pointer is None
        if self.owned:
            _call("frame_new", ctypes.byref(self.pointer))

    def __del__(self):
        if self.owned:
            _library.dpline_frame_free(self.pointer)

    kind = property(lambda self: _library.dpline_frame_kind(self.pointer))
    label = property(lambda self: _library.dpline_frame_label(self.pointer))
    lap = property(lambda self: _library.dpline_frame_lap(self.pointer))

    def __contains__(self, field):
        return bool(_library.dpline_frame_has(self.pointer, field.encode()))

    def get(self, field, fallback=None):
        return self[field] if field in self else fallback

    def __getitem__(self, field):
        name = field.encode()
        if field not in self:
            raise Error(f"the frame has no field '{field}'")
        array = _Array()
        for kind in range(1, 5):
            for dimensions in range(1, 5):
                if _library.dpline_frame_array(self.pointer, name, kind, dimensions, ctypes.byref(array), None) == 0:
                    raw = ctypes.string_at(array.data, array.count * int(_TYPES[kind][2])) if array.count else b""
                    return np.frombuffer(raw, _TYPES[kind]).reshape(array.size[:dimensions])
        text = _library.dpline_frame_text(self.pointer, name, None)
        if text is not None:
            return text.decode()
        flag, absent = _library.dpline_frame_flag(self.pointer, name, -1), -(2**63)
        if flag >= 0:
            return bool(flag)
        whole = _library.dpline_frame_int(self.pointer, name, ctypes.c_int64(absent))
        return whole if whole != absent else _library.dpline_frame_real(self.pointer, name, ctypes.c_double(np.nan))

    def __setitem__(self, field, value):
        name = field.encode()
        if isinstance(value, (bool, np.bool_)):
            _call("frame_set_flag", self.pointer, name, int(value))
        elif isinstance(value, str):
            _call("frame_set_text", self.pointer, name, value.encode())
        elif isinstance(value, (int, np.integer)):
            _call("frame_set_int", self.pointer, name, ctypes.c_int64(int(value)))
        elif isinstance(value, (float, np.floating)):
            _call("frame_set_real", self.pointer, name, ctypes.c_double(float(value)))
        else:
            value = np.ascontiguousarray(value)
            kind = _TYPES.index(value.dtype.str) if value.dtype.str in _TYPES else 0
            if kind == 0 or not 1 <= value.ndim <= 2:
                raise Error(f"{field}: an array of {value.dtype} with {value.ndim} dimensions is not for a frame")
            rows, columns = value.shape if value.ndim == 2 else (value.shape[0], 0)
            _call("frame_set_array", self.pointer, name, kind, ctypes.c_uint64(rows), ctypes.c_uint64(columns),
                  value.ctypes.data_as(ctypes.c_void_p))

    def __delitem__(self, field):
        _call("frame_drop", self.pointer, field.encode())

    def json(self):
        """The whole frame, with its records, as dp-cat(1) prints it."""
        text = ctypes.c_char_p()
        _call("frame_json", self.pointer, ctypes.byref(text))
        try:
            return json.loads(text.value)
        finally:
            ctypes.CDLL(None).free(text)

    def bound(self, vectors, bound, replace_one=False):
        """Turns a raw lap into a bounded lap: the sum of the vectors, one for each row of the batch, each clipped to the L2
        norm bound. A vector must not depend on other rows; dp-audit(1) can test that."""
        vectors = np.ascontiguousarray(vectors, "f8")
        total = np.zeros(vectors.shape[1], "i8")
        for vector in vectors:
            _library.dpline_grid_add(vector.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(len(vector)),
                                     ctypes.c_double(bound), total.ctypes.data_as(ctypes.c_void_p))
        _call("frame_bound", self.pointer, total.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(1),
              ctypes.c_uint64(len(total)), ctypes.c_double(bound), int(replace_one))


def read_frames(port):
    """The frames of a stream, one after the other: of a file, a socket or, for "-", standard input."""
    stream = ctypes.c_void_p()
    _call("stream_read_from", ctypes.byref(stream), os.fspath(port).encode())
    try:
        while True:
            frame = Frame()
            if _call("stream_read", stream, frame.pointer) == 0:
                return
            yield frame
    finally:
        _library.dpline_stream_free(stream)


def write_frames(port, frames):
    """Writes a stream. A file gets its name when the last frame is in it."""
    stream = ctypes.c_void_p()
    _call("stream_write_to", ctypes.byref(stream), os.fspath(port).encode())
    try:
        for frame in frames:
            _call("stream_write", stream, frame.pointer)
        _call("stream_commit", stream)
    finally:
        _library.dpline_stream_free(stream)


def read_model(path):
    """The last lap of a released model: a frame whose field model has the weights."""
    last = collections.deque((frame for frame in read_frames(path) if frame.kind == LAP), maxlen=1)
    if not last or last[0].label != RELEASED:
        raise Error(f"{path} has no released model")
    return last[0]


def weights(model):
    """The weights of a linear model for the columns of a data set, and the constants: scores are X @ weights.T + constants."""
    w = model.get("scale", 1.0) * model.get("average", model["model"])
    return (w[:, :-1], w[:, -1] * model["intercept"]) if "intercept" in model else (w, np.zeros(len(w)))


# --- a stage of your own -------------------------------------------------------------------------------------------------


class Stage:
    """A stage of a pipeline. A subclass has summary (one line), takes and gives (labels: RAW, BOUNDED, ...), options, and
    fire(frame), which may change the frame and emits it; hello(frame) sees the opening frame. options is a dictionary: a name, a
    default (None: required; False: a flag) and a line of help. Options are attributes of self.options."""
    summary, takes, gives, options, ephemeral = "", RELEASED, RELEASED, {}, True

    def hello(self, frame):
        """Sees the opening frame; announce() belongs here."""

    def fire(self, frame):
        raise NotImplementedError

    def announce(self, frame, means, bound, replace_one=False):
        """The stage will call frame.bound with this bound; the sum is a "gradient", a "move" or "moments"."""
        _call("stage_announce", self._stage, frame.pointer, means.encode(), ctypes.c_double(bound), int(replace_one))

    def emit(self, frame):
        _call("stage_emit", self._stage, frame.pointer)

    def print(self, text):
        """Prints the text of a stage that gives no frames: gives is 0."""
        _call("stage_print", self._stage, text.encode(), ctypes.c_size_t(len(text.encode())))

    def _guard(self, function):
        """function(frame) for C: an exception becomes the sentence of the failure."""
        def call(stage, frame, error):
            self._stage = ctypes.c_void_p(stage)
            try:
                self.options = self._struct.from_address(_library.dpline_stage_options(self._stage))
                function(Frame(frame))
                return 0
            except Exception as failure:  # pylint: disable=broad-except
                status = getattr(failure, "status", 1)
                error.contents.status = -status
                error.contents.message = (str(failure) or type(failure).__name__).encode()[:567]
                return -status
        return _FRAME(call)

    def main(self):
        """The whole program: reads the arguments and frames, and exits."""
        kinds = {bool: (0, ctypes.c_bool), str: (1, ctypes.c_char_p), float: (2, ctypes.c_double), int: (3, ctypes.c_int64)}
        rows, fields = (_Option * (len(self.options) + 1))(), []
        for row, (name, (kind, default, text)) in zip(rows, self.options.items()):
            row.name, row.help, row.kind = name.encode(), text.encode(), kinds[kind][0]
            row.metavar = None if kind is bool else name[0].upper().encode()
            row.fallback = None if default is None or kind is bool else str(default).encode()
            row.flags = 1 if default is None and kind is not bool else 0
            fields.append((name.replace("-", "_"), kinds[kind][1]))
        self._struct = type("Options", (ctypes.Structure,), {"_fields_": fields})
        for row, (name, _) in zip(rows, fields):
            row.offset = getattr(self._struct, name).offset
        name = pathlib.Path(sys.argv[0]).name
        stage = _StageClass(name.encode(), self.summary.encode(), rows, max(ctypes.sizeof(self._struct), 1), 0, self.takes,
                            self.gives, hello=self._guard(self.hello), fire=self._guard(self.fire),
                            ephemeral=int(self.ephemeral))
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        words = [word.encode() for word in sys.argv]
        sys.exit(_library.dpline_stage_main(ctypes.byref(stage), len(words), (ctypes.c_char_p * (len(words) + 1))(*words)))


# --- estimators ----------------------------------------------------------------------------------------------------------


class _Estimator:
    """What both estimators do, by the conventions of scikit-learn, without importing it."""

    def get_params(self, deep=True):  # pylint: disable=unused-argument
        return {name: getattr(self, name) for name in inspect.signature(type(self).__init__).parameters if name != "self"}

    def set_params(self, **params):
        for name, value in params.items():
            if name not in self.get_params():
                raise ValueError(f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {sorted(self.get_params())}.")
            setattr(self, name, value)
        return self

    def __repr__(self):
        defaults = inspect.signature(type(self).__init__).parameters
        given = (f"{name}={value!r}" for name, value in self.get_params().items() if value is not defaults[name].default)
        return f"{type(self).__name__}({', '.join(given)})"

    def _forget(self):
        """Takes away what another fit has left, so that a fit that fails leaves no model."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def _fitted(self):
        if not hasattr(self, "model_"):
            raise _of_sklearn("NotFittedError", Error)(f"This {type(self).__name__} instance is not fitted yet: call fit first")

    def _array(self, X, fitting=False):
        """X as float64, checked."""
        names = getattr(X, "columns", None)
        names = np.asarray(names, object) if names is not None and all(isinstance(n, str) for n in names) else None
        if not fitting:
            self._fitted()
            if names is not None and hasattr(self, "feature_names_in_"):
                for name in self.feature_names_in_:
                    if name not in names:
                        raise ValueError(f"the column '{name}' is missing: it was there during fit")
                X = X[list(self.feature_names_in_)]
        if hasattr(X, "toarray"):
            raise TypeError("A sparse matrix was passed, but dense data is required: use X.toarray()")
        X = np.asarray(X)
        if np.iscomplexobj(X):
            raise ValueError("Complex data not supported")
        X = X.astype("f8")
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim}D array instead. Reshape your data with array.reshape(-1, 1)")
        if fitting and len(X) == 1:
            raise ValueError("n_samples=1: one row cannot be hidden")
        if 0 in X.shape:
            raise ValueError(f"Found array with {X.shape[0]} sample(s) and {X.shape[1]} feature(s) (shape={X.shape}) while a "
                             "minimum of 1 is required.")
        if not np.isfinite(X).all():
            raise ValueError("Input X contains NaN or infinity (private_schema=True, or bounds by name, take missing values).")
        if fitting:
            self.n_features_in_ = X.shape[1]
            if names is not None:
                self.feature_names_in_ = names
        elif X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features "
                             "as input")
        return X

    @staticmethod
    def _labels(X, y):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        y = np.asarray(y)
        if y.ndim == 2 and y.shape[1] == 1:
            warnings.warn("A column-vector y was passed when a 1d array was expected.",
                          _of_sklearn("DataConversionWarning", UserWarning), stacklevel=3)
            y = y.ravel()
        if y.shape != X.shape[:1]:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {len(X)} rows, y of shape {y.shape}")
        if y.dtype.kind in "fc" and not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity.")
        return y

    def _kept(self, y, sample_weight, weights=None):
        """Which rows count: each with its weight as probability. So the mean of a sum is the weighted sum, and its bound holds."""
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, "f8")
        if weight.shape != (len(y),) or not ((weight >= 0) & (weight <= 1)).all():
            raise ValueError("sample_weight: a number from 0 to 1 for each row, because more would break the bound on one person")
        weight = weight if weights is None else weight * weights
        return np.random.default_rng(self.random_state).uniform(size=len(y)) < weight

    def _has_persons(self):
        return self.person is not None and self.person is not False

    def _is_table(self, X):
        """X goes in as a table. Only types and parameters decide, not values, because models of arrays and of tables look different."""
        if self.private_schema or self.categories is not None or isinstance(self.bounds, dict) or self._has_persons():
            return True
        return hasattr(X, "columns") and any(X[name].dtype.kind not in "biuf" for name in X.columns)

    def _given(self, columns):
        """What the user says of the columns, as a schema says it."""
        bounds = self.bounds or {}
        if not isinstance(bounds, dict):
            names = [name for name in columns if not self._has_persons() or name != str(self.person)]
            if any(isinstance(cell, str) for name in names for cell in columns[name][:1]):
                raise ValueError("bounds: a dictionary, {column: (low, high)}, because not all columns are numbers")
            bounds = dict(zip(names, zip(*(np.broadcast_to(np.asarray(b, "f8"), len(names)) for b in bounds))))
        given = {}
        for name, (low, high) in bounds.items():
            date = not isinstance(low, (int, float, np.number))
            if not low < high:
                raise ValueError(f"bounds of '{name}': (low, high), with low below high")
            given[name] = {"type": "numeric", "bounds": [str(b)[:10] for b in (low, high)] if date else _pair(low, high)}
            given[name].update({"date": _DAY} if date else {})
        for name, texts in (self.categories or {}).items():
            given[name] = {"type": "categorical", "unknown": "zero",
                           "categories": [[_text(t) for t in text] if isinstance(text, (list, tuple)) else _text(text) for text in texts]}
        if self._has_persons():
            given[str(self.person)] = {"type": "person", "rows_per_person": 8}
        for name in given:
            if name not in columns:
                raise ValueError(f"bounds, categories or person: '{name}' is no column")
        return given

    def _train_table(self, X, y, cells, label):
        """Runs dpline fit on a table. cells are the labels as texts; label is what the schema says of them, or None."""
        self._check()
        columns = _columns(X)
        if any(len(column) != len(cells) for column in columns.values()):
            raise ValueError(f"Found input variables with inconsistent numbers of samples: {len(X)} rows, {len(cells)} labels")
        name = getattr(y, "name", None)
        name = name if isinstance(name, str) and name else "y"
        while name in columns:
            name += "_"
        given, row = self._given(columns), _numbering([*columns, name])
        if label is not None:
            given[name] = {"type": "label", "unknown": "zero", **label} if "classes" in label else {"type": "label", **label}
        if self.person is None and len(given) > len(columns): # no column is proposed, which would ask
            self._ask(columns)
        with tempfile.TemporaryDirectory(prefix="dpline-") as place:
            here = pathlib.Path(place)
            dates = {n: entry["date"] for n, entry in given.items() if "date" in entry}
            (here / "table.csv").write_text(_csv({row: range(len(cells)), **columns, name: cells}, dates), "utf-8")
            whose = [] if self.population is None else ["--population", self.population]
            said, schema = [], {"header": True, "columns": [{"name": n, **given.get(n, {})} for n in (*columns, name)]}
            if len(given) <= len(columns):
                paid = ["--private-schema", self.epsilon / 10, "--at-most", 0.3 * self.epsilon, *self._options("--noise-seed", 10), *whose]
                asked = [] if self.person is None else ["--person", str(self.person)] if self._has_persons() else ["--row-is-person"]
                asked += ["--without", row]
                if self._estimator_type == "regressor":
                    asked += ["--number"]
                elif label is not None and not any("," in c for [c] in label["classes"]):
                    asked += ["--classes", ",".join(c for [c] in label["classes"])]
                try:
                    _, said = _run("dp-import", "csv", "--infer-schema", "table.json", "--header", "--label", name, *asked,
                                   *(paid if self.private_schema else ["--no-registry"]), "table.csv", cwd=place, doubt="perhaps no row has")
                except Error as failure:
                    raise _question(failure) from None
                schema = json.loads((here / "table.json").read_text("utf-8"))
                read = [c["name"] for c in schema["columns"] if c["name"] not in given and c["type"] != "ignore"]
                schema["columns"] = [{"name": c["name"], **given.get(c["name"], c)} for c in schema["columns"] if c["name"] != row]
                if not self.private_schema:
                    warnings.warn(f"{', '.join(read)}: bounds, categories or classes were read off the rows: epsilon does not cover them",
                                  PrivacyWarning, stacklevel=4)
            (here / "table.json").write_text(json.dumps(schema), "utf-8")
            _, more = _run("dpline", "fit", "table.csv", "--test", "none", "--epsilon", self.epsilon, "--adjacency", self.adjacency,
                           "-o", "model", *self._options("--seed"), *whose, cwd=place)
            self._released(here / "model")
        said += itertools.takewhile(lambda line: not line.startswith("dpline fit: the model is"), more)
        # a warning may state an exact fact about rows: it is for those who have them, and not for those who get the model
        self.said_ = [line for line in said if ": warning: " not in line and f"'{row}'" not in line]
        self.schema_, self.label_ = schema, next(c for c in schema["columns"] if c["type"] == "label")
        self.n_features_in_, self.feature_names_in_ = len(columns), np.array(list(columns), object)
        for line in said:
            if ": warning: " in line:
                warnings.warn(line, UserWarning, stacklevel=4)
        return self

    def _ask(self, names):
        """Asks whose rows these are, as for a table: a column whose values repeat has the name of an identifier."""
        names = dict(names)
        while names:
            table = _csv({**dict.fromkeys([*names, max(names, key=len) + "_"], [1, 1])}, {})
            try:
                _run("dp-import", "csv", "--infer-schema", "-", "--header", "--no-registry", "-", text=table)
                return
            except Error as failure:
                about = re.search("column '(.*?)' looks like an identifier", str(failure))
                if about is None:
                    return
                cells = names.pop(about[1], [0, 0])
                if len({*cells}) < len(cells):
                    raise _question(failure) from None

    def _check(self):
        """Refuses parameters that contradict each other, and warns of noise that can be repeated."""
        if (self.ledger is None) != (self.population is None):
            raise ValueError("ledger and population belong together: the file of what was spent, and whose rows these are")
        if self.private_schema and self.adjacency != "null-record":
            raise ValueError("private_schema: is paid for with the adjacency null-record only")
        if self.random_state is not None:
            warnings.warn("random_state: the noise can be repeated, so the model is not private", PrivacyWarning, stacklevel=4)

    def _options(self, seed, part=1):
        """Options of a command that spends."""
        options = ["--no-ledger", "--no-registry"] if self.ledger is None else ["--ledger", os.path.abspath(self.ledger)]
        for option, value in (("--delta", self.delta and self.delta / part), (seed, self.random_state)):
            options += [] if value is None else [option, value]
        return options + (["--allow-weak"] if self.allow_weak else [])

    def _released(self, model):
        self.model_, frame = model.read_bytes(), read_model(model)
        self.epsilon_, self.delta_ = frame["epsilon"], frame["delta"]
        return frame

    @contextlib.contextmanager
    def _place(self):
        """A directory with the model, and with the schema if the model must not carry it."""
        with tempfile.TemporaryDirectory(prefix="dpline-") as place:
            self.save(os.path.join(place, "model"))
            yield pathlib.Path(place)

    def _table_scores(self, X):
        columns, dates = _columns(X), {c["name"]: c["date"] for c in self.schema_["columns"] if "date" in c}
        table = {_numbering([*columns, *(c["name"] for c in self.schema_["columns"])]): range(len(X)), **columns}
        with self._place() as place:
            (place / "table.json").write_text(json.dumps(self.schema_), "utf-8")
            own = [] if "schema" in read_model(place / "model") else ["--schema", "table.json"]
            out, said = _run("dp-predict", "--scores", *own, "model", "-", text=_csv(table, dates), cwd=place)
        for line in said:
            warnings.warn(line, UserWarning, stacklevel=5)
        rows = list(csv.reader(io.StringIO(out)))[1:]
        if len(rows) != len(X):
            raise Error(f"dp-predict gave {len(rows)} predictions for {len(X)} rows")
        return np.array([[float(cell) if cell else np.nan for cell in row[1:]] for row in rows])

    def _repr_html_(self):
        """For a notebook: the parameters, what was said of the columns, and the page of dpline report, with the curves."""
        about = f"<pre>{html.escape(repr(self))}</pre>"
        if not hasattr(self, "model_"):
            return about
        with self._place() as place:
            there = self.ledger and os.path.exists(self.ledger)
            of = [os.path.abspath(self.ledger), "--model", "model"] if there else ["model", "--no-registry"]
            _run("dp-account", "report", *of, "-o", "page.html", cwd=place)
            page = (place / "page.html").read_text("utf-8")
        if hasattr(self, "said_"):
            said = html.escape("\n".join(self.said_))
            about += f"<details><summary>what the columns were taken for</summary><pre style='white-space: pre-wrap'>{said}</pre></details>"
        return f'{about}<iframe srcdoc="{html.escape(page)}" style="width: 100%; height: 32em; border: 1px solid #ccc"></iframe>'

    def _limits(self, X):
        """Public bounds of the columns; or else those of the rows, which are private: then the model says so."""
        if self.bounds is None:
            low, high = X.min(axis=0), X.max(axis=0)
            high = np.where(high > low, high, low + 1)
        else:
            low, high = (np.broadcast_to(np.asarray(b, "f8"), X.shape[1:]) for b in self.bounds)
        if not ((low < high) & np.isfinite(high - low)).all():
            raise ValueError("bounds: (low, high), each a number or one for each column, with low below high")
        return low, high

    def _train(self, X, target, kept, read, label_column, label):
        """Writes the data set, runs dpline fit on it, and reads the model: rows x become
        ((min(max(x, low), high) - low) / (high - low), 1) / divisor, of norm at most 1, as dp-import --row-norm bounds."""
        self._check()
        if self.person is None and hasattr(self, "feature_names_in_"):
            self._ask(zip(self.feature_names_in_, X.T))
        if read:
            warnings.warn(f"{' and '.join(read)} were read off the rows: epsilon does not cover them", PrivacyWarning, stacklevel=3)
        low, high = self._limits(X)
        names = [str(n) for n in getattr(self, "feature_names_in_", [f"x{j + 1}" for j in range(X.shape[1])])]
        divisor = np.sqrt(X.shape[1] + 1) * (1 + 2.0**-22)
        rows = np.hstack([(np.clip(X, low, high) - low) / (high - low), np.ones((len(X), 1))]) / divisor
        rows[~kept], target[~kept] = 0, 0
        more = {} if read else {"schema": {"header": True, "row_norm": "bounds", "bias": True, "quantised": False, "columns": [
            {"name": n, "type": "numeric", "bounds": _pair(a, b)} for n, a, b in zip(names, low, high)] + [label_column]}}
        with tempfile.TemporaryDirectory(prefix="dpline-") as place:
            data, model = os.path.join(place, "rows.dp"), os.path.join(place, "model")
            write_dataset(data, rows, target, names=names + ["bias"], population=self.population, row_norm="bounds",
                          row_divisor=divisor, bias=True, private_preprocessing=read, **label, **more)
            _run("dpline", "fit", data, "--epsilon", self.epsilon, "--adjacency", self.adjacency, "-o", model, "-q", *self._options("--seed"))
            frame = self._released(pathlib.Path(model))
        w, constants = weights(frame)
        self.low_, self.high_ = low, high
        self.coef_ = w[:, :-1] / (high - low) / divisor
        self.intercept_ = constants + w[:, -1] / divisor - self.coef_ @ low
        return self

    def _scores(self, X):
        self._fitted()
        if hasattr(self, "schema_"):
            return self._table_scores(X)
        return np.clip(self._array(X), getattr(self, "low_", None), getattr(self, "high_", None)) @ self.coef_.T + self.intercept_

    def save(self, path):
        """Writes the model as a file, for dp-predict(1), dp-info(1) and dpline report."""
        self._fitted()
        pathlib.Path(path).write_bytes(self.model_)


def _pair(low, high):
    """Bounds as a schema writes them: whole numbers without a point."""
    return [int(b) if float(b).is_integer() else float(b) for b in (low, high)]


def _question(failure):
    """A question about persons, in the words of Python."""
    said = re.sub("--person ('.*?')", r"person=\1", str(failure)).replace("--row-is-person", "person=False")
    return Error(said, failure.status)


_DAY = "%Y-%m-%d"


def _columns(X):
    """The columns of a table or an array by name."""
    if hasattr(X, "columns"):
        return {str(name): X[name] for name in X.columns}
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead. Reshape your data with array.reshape(-1, 1)")
    return {f"x{j + 1}": X[:, j] for j in range(X.shape[1])}


def _numbering(names):
    """A name that no column has, for the first one, which numbers the rows: none then looks like a line of units, of totals or like
    the header again, which dp-import(1) skips."""
    return next(name for name in ("row" + "_" * k for k in itertools.count()) if name not in names)


def _text(value):
    """A value as a cell of CSV: a whole number without a point, so that 1.0 and 1 are one category."""
    return str(int(value)) if isinstance(value, (float, np.floating)) and abs(value) < 2**53 and value == int(value) else str(value)


def _cells(column, date=None):
    """A column as texts, each of its own value only, so that one row cannot change the others; what is missing is empty."""
    gone = np.asarray(column.isna()) if hasattr(column, "isna") else np.array([v is None or v != v for v in column], bool)
    if hasattr(column, "dt") and hasattr(column.dt, "strftime"):
        day = column.dt.strftime(date or _DAY)
        column = day if date else day.where(column == column.dt.normalize(), column.dt.strftime(_DAY + " %H:%M:%S"))
    return ["" if g else _text(v) for g, v in zip(gone, np.asarray(column, object))]


def _csv(columns, dates):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(_cells(column, dates.get(name)) for name, column in columns.items())))
    return text.getvalue()


def _of_sklearn(name, fallback):
    """A class of errors or warnings of scikit-learn, if the program uses it: it is not imported here."""
    return getattr(sys.modules.get("sklearn.exceptions"), name, fallback)


_ABOVE_ONE = [f"check_sample_weights_{kind}" for kind in ("list", "not_overwritten", "pandas_series")]


class DPClassifier(_Estimator):
    """A private linear classifier, by dpline fit: logistic for two classes, softmax for more.

    epsilon, delta      the budget of one fit, which is all spent. delta None: the largest power of ten below 1 / rows^1.1.
    bounds, classes     (low, high) of the columns, and all labels: public, known without the rows. bounds may be a dictionary
                        {column: (low, high)}, also of dates. What is missing is read off the rows, with a PrivacyWarning.
    categories          {column: list of values}, public; a list instead of a value is one category with several spellings.
    private_schema      what bounds, categories and classes do not say is paid for, by a tenth to three tenths of epsilon.
    person              of a DataFrame: the column that says whose row it is, if a person may have several; at most 8 of them count.
                        False: each row is another person, although a column looks like an identifier.
    class_weight        {class: weight}, public. Others have 1. They are divided by the largest if it is above 1,
                        and act as sample_weight does.
    adjacency           null-record or replace-one, see dp-privacy(7).
    ledger, population  a file with what all fits on these people have spent, and a name for them. Without it each fit counts only
                        itself, and you add up.
    allow_weak          also fit with an epsilon above 10 or a delta that is not below 1 / rows, which protect hardly anybody.
    random_state        a number makes the noise repeatable, so the model is not private: for tests.

    X is an array of numbers, or a DataFrame. One with texts, dates or missing values, with a person, or with a schema that is
    paid for or given by names, goes to dpline fit as a table: numbers become curves, said_ is what dpline said of the columns but its
    warnings, which are Python's, and there is no coef_.
    Predictions take its columns by name. sample_weight, from 0 to 1, is the probability with which a row counts at all: so the bound
    on one person holds. It must be a function of the row alone, or public.

    While fit runs, a copy of the rows is in a directory of TMPDIR that only you can read."""
    _estimator_type = "classifier"

    def __init__(self, epsilon=1.0, *, delta=None, bounds=None, classes=None, categories=None, private_schema=False, person=None,
                 class_weight=None, adjacency="null-record", ledger=None, population=None, allow_weak=False, random_state=None):
        self.epsilon, self.delta, self.bounds, self.classes, self.categories = epsilon, delta, bounds, classes, categories
        self.person, self.private_schema, self.class_weight, self.adjacency, self.ledger = person, private_schema, class_weight, adjacency, ledger
        self.population, self.allow_weak, self.random_state = population, allow_weak, random_state

    def _more_tags(self):
        return {"_xfail_checks": {"check_sample_weights_invariance": "a row of weight 0 is one of the public number of rows",
                                  **dict.fromkeys(_ABOVE_ONE, "a weight is at most 1")}}

    def _of_classes(self, y):
        """The weight of the class of each row."""
        if self.class_weight is None:
            return None
        if not isinstance(self.class_weight, dict) or not all(0 < w < np.inf for w in self.class_weight.values()):
            raise ValueError("class_weight: public numbers above 0, {class: weight}; 'balanced' would count the classes, which is private")
        largest = max([1, *self.class_weight.values()])
        return np.array([self.class_weight.get(value, 1) / largest for value in y])

    def fit(self, X, y, sample_weight=None):
        self._forget()
        if self._is_table(X):
            return self._fit_table(X, y, sample_weight)
        X = self._array(X, fitting=True)
        y = self._labels(X, y)
        if y.dtype.kind == "f" and not (y == np.floor(y)).all():
            raise ValueError("Unknown label type: continuous")
        self.classes_ = np.unique(y if self.classes is None else np.asarray(self.classes))
        if len(self.classes_) < 2:
            raise ValueError("one class: a classifier needs two or more")
        target = np.searchsorted(self.classes_, y)
        if not np.array_equal(self.classes_[np.minimum(target, len(self.classes_) - 1)], y):
            raise ValueError("a label of y is none of the classes")
        read = [name for name in ("bounds", "classes") if getattr(self, name) is None]
        texts = [str(c) for c in self.classes_]
        return self._train(X, target, self._kept(y, sample_weight, self._of_classes(y)), read,
                           {"name": "y", "type": "label", "classes": [[t] for t in texts]}, {"classes": texts})

    def _fit_table(self, X, y, sample_weight):
        cells = _cells(y)
        label = None if self.classes is None else {"classes": [[_text(c)] for c in np.unique(np.asarray(self.classes))]}
        if label is not None and not set(cells) <= {"", *(c for [c] in label["classes"])}:
            raise ValueError("a label of y is none of the classes")
        values = np.asarray(y)
        kept = self._kept(values, sample_weight, self._of_classes(values))
        self._train_table(X, y, [cell if k else "" for k, cell in zip(kept, cells)], label)
        names = [c[0] if isinstance(c, list) else c for c in self.label_["classes"]]
        kind, values = values.dtype, np.array(names, object)
        if kind.kind == "b":
            values = np.array([n.lower() in ("true", "not false") for n in names])
        elif kind.kind in "iuf" and "not " + names[0] not in names:  # a class of all others is a text
            values = values.astype(kind)
        self.order_ = np.argsort(values)
        self.classes_ = values[self.order_]
        return self

    def _table_scores(self, X):
        scores = super()._table_scores(X)
        if scores.shape[1] == 1:
            return scores if self.order_[0] == 0 else -scores
        return scores[:, self.order_]

    def decision_function(self, X):
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X):
        scores = self._scores(X)
        scores = np.hstack([np.zeros_like(scores), scores]) if scores.shape[1] == 1 else scores
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        return odds / odds.sum(axis=1, keepdims=True)

    def predict(self, X):
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def score(self, X, y, sample_weight=None):
        """The accuracy on rows that have a label."""
        predicted = self.predict(X)
        if not hasattr(self, "label_"):
            return float(np.average(predicted == np.asarray(y), weights=sample_weight))
        names = {word: c[0] for c in self.label_["classes"] if isinstance(c, list) for word in c}
        other = {"zero": None}.get(self.label_.get("unknown"), self.label_.get("unknown"))
        known = {c if isinstance(c, str) else c[0] for c in self.label_["classes"]}
        truth = [names.get(cell, cell) for cell in _cells(y)]
        truth = np.array([cell if cell in known or not cell else other or cell for cell in truth], object)
        right = [_text(value) == t for value, t in zip(predicted, truth)]
        weight = (truth != "") * (1 if sample_weight is None else np.asarray(sample_weight))
        return float(np.average(right, weights=weight))


class DPRegressor(_Estimator):
    """A private linear regression, by dpline fit. label_bounds is (low, high) of y: labels beyond are clamped. The other parameters
    are those of DPClassifier."""
    _estimator_type = "regressor"

    def __init__(self, epsilon=1.0, *, delta=None, bounds=None, label_bounds=None, categories=None, private_schema=False, person=None,
                 adjacency="null-record", ledger=None, population=None, allow_weak=False, random_state=None):
        self.epsilon, self.delta, self.bounds, self.label_bounds, self.categories = epsilon, delta, bounds, label_bounds, categories
        self.private_schema, self.adjacency, self.ledger, self.population = private_schema, adjacency, ledger, population
        self.person, self.allow_weak, self.random_state = person, allow_weak, random_state

    def _more_tags(self):
        # check_estimator asks for an R² of 0.5 of 200 rows: at epsilon 1 noise decides that
        return {"poor_score": True, **DPClassifier._more_tags(self)}

    def fit(self, X, y, sample_weight=None):
        self._forget()
        if self._is_table(X):
            return self._fit_table(X, y, sample_weight)
        X = self._array(X, fitting=True)
        y = self._labels(X, y).astype("f8")
        low, high = (y.min(), y.max()) if self.label_bounds is None else (float(b) for b in self.label_bounds)
        if self.label_bounds is None and low == high:
            high = low + 1
        if not low < high:
            raise ValueError("label_bounds: (low, high), with low below high")
        self.scale_, self.offset_ = (high - low) / 2, (high + low) / 2
        target = (np.clip(y, low, high) - self.offset_) / self.scale_
        read = [name for name in ("bounds", "label_bounds") if getattr(self, name) is None]
        return self._train(X, target, self._kept(y, sample_weight), read, {"name": "y", "type": "label", "bounds": _pair(low, high)},
                           {"label_scale": self.scale_, "label_offset": self.offset_})

    def _fit_table(self, X, y, sample_weight):
        if sample_weight is not None:
            raise ValueError("sample_weight: not for a number to predict from a table; give a DataFrame of numbers with bounds, as an array")
        self._train_table(X, y, _cells(y), None if self.label_bounds is None else {"bounds": _pair(*self.label_bounds)})
        with self._place() as place:
            frame = read_model(place / "model")
        self.scale_, self.offset_ = frame["label_scale"], frame["label_offset"]
        return self

    def predict(self, X):
        return self._scores(X)[:, 0] * self.scale_ + self.offset_

    def score(self, X, y, sample_weight=None):
        """R^2."""
        y = np.asarray(y, "f8")
        mean = np.average(y, weights=sample_weight)
        return float(1 - np.average((y - self.predict(X)) ** 2, weights=sample_weight) / np.average((y - mean) ** 2, weights=sample_weight))

#!/usr/bin/env bats
# examples/python: its README as it stands, its estimators next to the commands, and scikit-learn's own checks where it is there.
load helper

prepare() {
    /usr/bin/python3 -c 'import numpy' 2> /dev/null || skip "needs python3-numpy"
    case $BUILD in *asan*) skip "Python does not load a library under sanitizers" ;; esac
    make -s -C "$ROOT" BUILD="$BUILD" "${BUILD#"$ROOT"/}/lib/libdpline.so.$(sed -n 's/.*DP_VERSION "\(.*\)"/\1/p' "$ROOT/lib/base/version.h")" > log 2>&1 ||
        fail "$(cat log)"
    export DPLINE_LIBRARY=$BUILD/lib/libdpline.so PYTHONPATH=$ROOT/examples/python PYTHONDONTWRITEBYTECODE=1
    PATH=$ROOT/examples/python:$PATH
}

# blocks LANGUAGE: of the README
blocks() { awk -v start="\`\`\`$1" '$0 == "```" { on = 0 } on; $0 == start { on = 1 }' "$ROOT/examples/python/README.md"; }
python() { timeout -k 2 120 /usr/bin/python3 -W error::UserWarning "$@"; }

@test "the blocks of README.md are one program, and its models are those of the commands" {
    blocks python > tour.py
    # 30 fits: 0.698 and 0.929, deviations 0.002 and less
    cat >> tour.py << 'END'
assert model.score(X[3000:], y[3000:]) > 0.65 and regressor.score(X[3000:], cost[3000:]) > 0.8
assert abs(model.epsilon_ - 0.5) < 1e-3 and open("ill.model", "rb").read() == open("copy.model", "rb").read()
assert (rows == (X[:3000] / 110).astype("f4")).all() and (labels == (y[:3000] == "ill")).all()
with open("new.csv", "w") as f:
    print("x2,x1", *(f"{float(b)!r},{float(a)!r}" for a, b in np.vstack([X[3000:].tolist(), [[200, -5]]])), sep="\n", file=f)
np.savetxt("expected", model.predict_proba(np.vstack([X[3000:], [[200, -5]]]))[:, 1])
END
    python tour.py > out || fail "$(cat out)"
    dp-info --verify train.dp
    assert_equal "$(dp-account report --json clinic.ledger | jq -c '[.runs[] | [.population, .closed]]')" '[["the clinic",true],["the clinic",true]]'
    # beyond the bounds as well
    dp-predict --probability ill.model new.csv | tail -n +2 | cut -d, -f 3 > got
    python -c 'import numpy; e, g = numpy.loadtxt("expected"), numpy.loadtxt("got"); assert len(g) == 1001 and abs(e - g).max() < 1e-6'
}

@test "the shell block of README.md: a private and a public stage in Python" {
    blocks sh > run
    bash -e run > out 2> err || fail "$(cat err)"
    awk 'END { exit !($3 > .7) }' out || fail "$(cat out)"
    python -c 'import dpline, numpy; assert numpy.linalg.norm(dpline.read_model("model")["model"]) <= 10 * (1 + 1e-15)'
    # dp-grad makes the same sums
    child() { echo "dp-sample --data a.dp --rate 0.2 --inline | $1 | dp-noise -z 2 | dp-account -e 50 -d 1e-5 --allow-seeded --no-ledger | dp-step --step 1"; }
    dp-loop --laps 20 --seed 3 -q -o model -- "$(child 'dp-grad --loss logistic --clip 0.5')" > stream
    dp-loop --laps 20 --seed 3 -q -o model.own -- "$(child 'logistic-grad.py --clip 0.5')" > stream.own
    dp-cmp --tolerance 1e-6 model model.own
    complains 2 'logistic-grad.py: --clip is required' logistic-grad.py < stream
    complains 5 'logistic-grad.py: takes raw frames and got a released one: a stage is missing or out of place' logistic-grad.py --clip 1 --in stream --out none
    complains 1 "logistic-grad.py: the frame has no field 'X'" dp-loop --laps 2 -q -- "$(child 'logistic-grad.py --clip 0.5' | sed 's/ --inline//')"
}

@test "bad input, and what is not private" {
    cat > bad.py << 'END'
import warnings
import dpline, numpy as np
X = np.random.default_rng(1).uniform(size=(300, 3))
y = X[:, 0] > X[:, 1]
def says(message, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except ValueError as failure:
        assert message in str(failure), failure
        return failure
    assert False, message
public = dpline.DPClassifier(bounds=(0, 1), classes=[False, True])
says("not fitted yet", public.predict, X)
says("NaN", public.fit, X * np.nan, y)
says("(low, high)", dpline.DPClassifier(bounds=(1, 0), classes=[False, True]).fit, X, y)
says("none of the classes", dpline.DPClassifier(bounds=(0, 1), classes=[1, 2]).fit, X, y.astype(int))
says("ledger and population", dpline.DPClassifier(bounds=(0, 1), classes=[False, True], ledger="l").fit, X, y)
says("Invalid parameter 'depth'", public.set_params, depth=3)
assert says("does not pay for one useful lap", dpline.DPClassifier(1e-3, bounds=(0, 1), classes=[False, True]).fit, X, y).status == 3
says("too few to hide one of them", public.fit, X[:60], y[:60])
says("a row is longer than 1", dpline.write_dataset, "long.dp", X + 1, y, classes="ab")
says("not the number of one of the 2 classes", dpline.write_dataset, "label.dp", X / 2, y * 2, classes="ab")
says("cannot open", dpline.read_model, "none")
says("rate", dpline.epsilon_of, dpline.charge(1, multiplier=1, rate=2))
says("'colour'", dpline.Frame().__setitem__, "colour", 1)
for model, words in ((dpline.DPClassifier(), "bounds and classes were"), (dpline.DPClassifier(bounds=(0, 1)), "classes were"),
                     (dpline.DPRegressor(), "bounds and label_bounds were"), (public.set_params(random_state=1), "can be repeated")):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert [w.category for w in caught] == [dpline.PrivacyWarning] and words in str(caught[0].message), caught
    model.save("model")
    about = dpline.read_model("model")
    # what was read off the rows is in the model as words, and not as numbers in a schema
    assert ("schema" in about) == (model is public) and bool(about["private_preprocessing"]) == (model is not public)
END
    python bad.py
}

@test "scikit-learn's check_estimator: what does not pass is too few rows" {
    /usr/bin/python3 -c 'import sklearn' 2> /dev/null || skip "needs python3-sklearn"
    cat > check.py << 'END'
import sys; sys.modules["pandas"] = None # with pandas, three checks more would run
import re, warnings
import dpline, numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator
warnings.simplefilter("ignore")
class Repeated:
    def _train(self, X, target, *more):
        return super()._train(np.tile(X, (60, 1)), np.tile(target, 60), *more)
    def _more_tags(self):
        return {} # with so many rows the score counts
class Classifier(Repeated, dpline.DPClassifier):
    pass
class Regressor(Repeated, dpline.DPRegressor):
    pass
rows = {}
for make in dpline.DPClassifier, dpline.DPRegressor, lambda: Classifier(100, allow_weak=True), lambda: Regressor(100, allow_weak=True):
    passed = 0
    for estimator, check in check_estimator(make(), generate_only=True):
        try:
            check(estimator)
            passed += 1
        except Exception as failure:
            texts = str(failure), str(failure.__cause__)
            few = any("too few to hide" in text for text in texts) and not isinstance(estimator, Repeated)
            assert few or "pandas is not installed" in texts[0], (check, failure)
            if few:
                name = check.func.__name__
                rows.setdefault(name, {})[type(estimator)] = re.search(r"([0-9]+) rows are too few", str(failure)).group(1)
    print(passed)
with open("table", "w") as table:
    for name, by in sorted(rows.items()):
        print("|", f"`{name}`", *(f"| {by[kind]}" if kind in by else "|" for kind in (dpline.DPClassifier, dpline.DPRegressor)), "|", file=table)
X = np.random.default_rng(1).uniform(size=(600, 3)) # 0.995, deviation 0.002
assert cross_val_score(dpline.DPClassifier(5, bounds=(0, 1), classes=[False, True]), X, X[:, 0] > X[:, 1], cv=3).mean() > 0.8
END
    timeout -k 2 300 /usr/bin/python3 check.py > out 2> err || fail "$(tail -n 5 err)"
    # shellcheck disable=SC2046 # four words
    [ "$(sklearn_version)" != 1.2.1 ] || assert_equal "$(echo $(cat out))" '22 19 41 38'
    # and README.md has each of them with its number of rows
    [ "$(sklearn_version)" != 1.2.1 ] || diff table <(grep '^| `check_' "$ROOT/examples/python/README.md")
}
sklearn_version() { /usr/bin/python3 -c 'import sklearn; print(sklearn.__version__)'; }

@test "pip installs it without a network: from a built tree with the commands, from another with words on where they are looked for" {
    tree=$ROOT/examples/python
    /usr/bin/python3 -c "import sys; sys.path.insert(0, '$tree'); import wheel_of_dpline; print(wheel_of_dpline.build_wheel('.'))" > name
    /usr/bin/python3 -m zipfile -l "$(cat name)" | cut -d ' ' -f 1 > files
    for file in dpline_tree/bin/dp-predict dpline_tree/share/dpline/pipelines/fit.sh dpline_tree/lib/libdpline.so; do grep -qx "$file" files || fail "$file"; done
    mkdir -p bare/lib/base bare/examples && cp "$ROOT/lib/base/version.h" bare/lib/base && cp -r "$tree" bare/examples
    /usr/bin/python3 -m venv --system-site-packages own 2> err || skip "needs python3-venv"
    unset PYTHONPATH DPLINE_LIBRARY
    install() { own/bin/pip install -q --no-index --force-reinstall --no-deps "$@" > log 2>&1 || fail "$(cat log)"; }
    PATH=/usr/bin:/bin
    install "$tree"
    own/bin/dpline predict --help > out
    assert_file_contains out '^Usage: dp-predict '
    (cd / && "$OLDPWD/own/bin/python" -W error::UserWarning) << 'END'
import dpline, numpy as np
X = np.random.default_rng(1).uniform(size=(600, 2)) # 0.99, deviation 0.003
assert "own" in dpline.__file__ and dpline.DPClassifier(bounds=(0, 1), classes=[0, 1]).fit(X, X[:, 0] > 0.5).score(X, X[:, 0] > 0.5) > 0.8
END
    BUILD=none install ./bare/examples/python
    [ ! -e own/bin/dpline ] || fail "a command dpline without the others"
    run own/bin/python -c 'import dpline'
    assert_output --partial 'run make in the source tree of dpline and install this package again, or put the commands of dpline in PATH'
    PATH=$BUILD/bin:/usr/bin:/bin own/bin/python -c 'import dpline; assert dpline.epsilon_of(dpline.charge(1, multiplier=1)) > 1'
}

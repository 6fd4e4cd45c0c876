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
    cat > expects.py << 'END'
def says(message, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except ValueError as failure:
        assert message in str(failure), failure
        return failure
    assert False, message
END
}

# blocks LANGUAGES: of the README, in its order
blocks() { awk -v start="^\`\`\`($1)\$" '$0 == "```" { on = 0 } on; $0 ~ start { on = 1 }' "$ROOT/examples/python/README.md"; }
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
from expects import says
X = np.random.default_rng(1).uniform(size=(300, 3))
y = X[:, 0] > X[:, 1]
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
public.set_params(random_state=None)
says("0 to 1 for each row", public.fit, X, y, sample_weight=np.where(y, 1, 1.1))
says("0 to 1 for each row", public.fit, X, y, sample_weight=[1])
says("'balanced' would count the classes", dpline.DPClassifier(bounds=(0, 1), class_weight="balanced").fit, X, y)
A = np.random.default_rng(1).uniform(size=(4000, 2))
# weights: rows of weight .1 count as a tenth of them
shares = [dpline.DPClassifier(5, bounds=(0, 1), classes=[False, True], **more).fit(A, A[:, 0] > A[:, 1], **weigh).predict(A).mean()
          for more, weigh in (({}, {}), ({}, {"sample_weight": np.where(A[:, 0] > A[:, 1], 1, 0.1)}), ({"class_weight": {False: 1, True: 10}}, {}))]
assert shares[0] + 0.02 < min(shares[1:]), shares # .50, .57, .57, deviations .01
END
    python bad.py
}

quiet='import dpline, numpy as np, warnings; warnings.filterwarnings("ignore", "dp-predict")' # a category may be too rare for what was paid
need_pandas() { /usr/bin/python3 -c 'import pandas' 2> /dev/null || skip "needs python3-pandas"; }

@test "a DataFrame of texts, dates, categories and missing values: all blocks of README.md" {
    need_pandas
    $(grep -o 'dp-synth patients [^`]*' "$ROOT/examples/python/README.md") -q
    { echo "$quiet"; blocks 'python( with pandas)?'; } > tour.py
    # one program: what one block makes, the next one has. 12 seeds: 0.68 and 0.67, deviations 0.006; half of the rows have each label
    cat >> tour.py << 'END'
assert risk.score(people[4800:], back[4800:]) > 0.6 and known.score(people[4800:], back[4800:]) > 0.6
assert 0.99 < risk.epsilon_ <= 1 and list(risk.classes_) == ["no", "yes"]
assert np.array_equal(risk.predict_proba(people[:50]), risk.predict_proba(people[people.columns[::-1]][:50].assign(ward=people["ward"].astype("category"))))
risk.save("m")
people[:100].to_csv("x.csv")
with open("expected", "w") as f:
    print(*risk.predict_proba(people[:100])[:, 1], sep="\n", file=f)
assert dpline.read_model("m")["n"] == 4800 and dpline.read_model("m")["private_preprocessing"] == "paid-schema"
risk.set_params(ledger="ward.ledger", population="the clinic").fit(people, back)
assert "the clinic" in risk._repr_html_()
known.save("k")
assert dpline.read_model("k")["private_preprocessing"] == "paid-schema" and "schema cost" not in " ".join(known.said_) # the knots
page = risk._repr_html_()
assert "<iframe" in page and "readmitted" in page and "patient_id" in page and len(page) < 40000 and "<svg" not in dpline.DPClassifier()._repr_html_()
END
    python tour.py > out || fail "$(cat out)"
    assert_file_contains out "column 'patient_id' is left out"
    # schema, knots and laps together
    assert_equal "$(dp-account report --json ward.ledger | jq -c '[.runs[] | [.population, .closed]]')" '[["the clinic",true],["the clinic",true],["the clinic",true]]'
    dp-account report ward.ledger | grep -q '^by all runs in ward.ledger: epsilon 1 at' || fail "$(dp-account report ward.ledger)"
    # the saved model takes the table
    dp-predict --probability m x.csv | tail -n +2 | cut -d, -f 3 > got
    python -c 'import numpy; e, g = numpy.loadtxt("expected"), numpy.loadtxt("got"); assert len(g) == 100 and abs(e - g).max() < 1e-9'
}

@test "a DataFrame: bad input, labels that are missing, weights, numbers to predict" {
    need_pandas
    dp-synth patients --rows 6000 --seed 3 -o patients.csv -q
    { echo "$quiet"; cat; } > bad.py << 'END'
import pandas as pd
from expects import says
data = pd.read_csv("patients.csv")
X, y = data.drop(columns="readmitted"), data["readmitted"].str.lower()
asks = says("person='patient_id' protects all of them; person=False", dpline.DPClassifier(private_schema=True).fit, X, y)
assert asks.status == 5
paid = dpline.DPClassifier(private_schema=True, person=False)
says("not fitted yet", paid.predict, X)
says("null-record only", dpline.DPClassifier(private_schema=True, adjacency="replace-one").fit, X, y)
assert says("too small", paid.fit, X[:300], y[:300]).status == 5
says("a dictionary, {column: (low, high)}", dpline.DPClassifier(bounds=(0, 1)).fit, X, y)
says("'weight' is no column", dpline.DPClassifier(bounds={"weight": (0, 1)}).fit, X, y)
says("bounds of 'age'", dpline.DPClassifier(bounds={"age": (1, 0)}).fit, X, y)
says("none of the classes", dpline.DPClassifier(private_schema=True, person=False, classes=["yes", "perhaps"]).fit, X, y)
says("not for a number", dpline.DPRegressor(private_schema=True, person=False).fit, X, data["drugs"], sample_weight=np.ones(len(y)))
# a third of the labels is missing: they teach nothing, and no score counts them
half = y.where(np.arange(len(y)) % 3 > 0)
sure = dpline.DPClassifier(5, private_schema=True, person=False).fit(X, half) # with less, one schema in 1,000 misses a column
assert "have no label" in " ".join(sure.said_)
assert abs(sure.score(X, half) - np.mean(sure.predict(X)[half.notna()] == half[half.notna()])) < 1e-12
known = dpline.DPClassifier(bounds={"drugs": (0, 12)}, categories={"ward": ["surgery", "cardiology", "emergency", "geriatrics"]}, classes=["no", "yes"])
known.fit(X[["drugs", "ward"]], y)
says("has no column 'drugs'", known.predict, X.drop(columns="drugs"))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    known.predict(X.assign(ward=np.where(np.arange(len(y)) < 300, "Ward 7", X["ward"])))
assert any("column 'ward'" in str(w.message) for w in caught), caught
says("column 'ward'", known.predict, X.assign(ward="Ward 7"))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    unpaid = dpline.DPClassifier(bounds={"age": (18, 100)}).fit(X, y)
words = str(caught[0].message)
assert caught[0].category is dpline.PrivacyWarning and "epsilon does not cover" in words and "ward, " in words and "age" not in words
assert "schema" not in dpline.read_model(unpaid.save("u") or "u") and unpaid.score(X, y) > 0.6
# several rows of a person
twice = dpline.DPClassifier(private_schema=True, person="patient_id").fit(pd.concat([X, X]), pd.concat([y, y]))
assert dpline.read_model(twice.save("t") or "t")["n"] == 6000 and twice.score(X, y) > 0.6
# a class that is too rare to be paid for is one of the others, or named by the user; a count is a number
rare = np.where(np.random.default_rng(2).uniform(size=len(y)) < 0.02, "fraud", "fair")
assert list(paid.fit(X, rare).classes_) == ["fair", "not fair"] and paid.score(X, rare) > 0.9
assert list(paid.fit(X, (rare == "fraud") + 3).classes_) == ["3", "not 3"] and paid.score(X, (rare == "fraud") + 3) > 0.9
assert list(paid.fit(X, rare == "fraud").classes_) == [False, True] and paid.score(X, rare == "fraud") > 0.9
with warnings.catch_warnings():
    warnings.simplefilter("ignore") # in some runs the noise hides so rare a class
    named = dpline.DPClassifier(private_schema=True, person=False, classes=["fraud", "fair"]).fit(X, rare)
assert list(named.classes_) == ["fair", "fraud"]
assert dpline.DPRegressor(private_schema=True, person=False).fit(X, data["drugs"]).score(X, data["drugs"]) > 0.6
# classes that are not texts are given back as they are; in the order of NumPy
scale = paid.fit(X, np.where(y == "yes", 2, 10))
assert list(scale.classes_) == [2, 10] and scale.score(X, np.where(y == "yes", 2, 10)) > 0.6 and (scale.predict(X) == 2).any()
assert paid.fit(X, y == "yes").classes_.dtype == bool and paid.score(X, y == "yes") > 0.6
# an array whose bounds are paid for, and a number to predict
A = np.random.default_rng(1).uniform(size=(4000, 2)) # 0.98, deviation 0.004; R^2 0.98
assert paid.fit(A, A[:, 0] > A[:, 1]).score(A, A[:, 0] > A[:, 1]) > 0.85
number = dpline.DPRegressor(private_schema=True, person=False, label_bounds=(0, 60)).fit(X, 4 * data["drugs"])
assert number.score(X, 4 * data["drugs"]) > 0.7
# a cell depends on its own value only: a time in one row leaves the other dates as they are
days = pd.Series(pd.to_datetime(["2026-01-05", "2026-01-06 10:00", None]))
assert dpline._cells(days) == ["2026-01-05", "2026-01-06 10:00:00", ""] and dpline._cells(days, "%Y") == ["2026", "2026", ""]
assert dpline._cells(pd.Series([1, None, 2.5])) == ["1", "", "2.5"]
says("bounds by name, take missing values", dpline.DPClassifier(bounds=(0, 1)).fit, X[["drugs"]].where(X["drugs"] > 2), y)
END
    python bad.py
}

@test "a DataFrame: persons among numbers, rows that look like other lines, warnings that are not kept" {
    need_pandas
    { echo "$quiet"; cat; } > rows.py << 'END'
import pandas as pd
from expects import says
import pickle
def n(model):
    model.save("m")
    return dpline.read_model("m")["n"]
def warned(function, *arguments):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return function(*arguments), [str(w.message) for w in caught]
# numbers with bounds: all rows of a person are protected together
rng = np.random.default_rng(1)
X = pd.DataFrame({"age": rng.uniform(size=1000), "hours": rng.uniform(size=1000), "patient_id": np.arange(1000)})
X, y = pd.concat([X] * 3), pd.concat([X["age"] > X["hours"]] * 3).to_numpy()
public = dpline.DPClassifier(5, bounds=(0, 1), classes=[False, True])
public.set_params(person="patient_id")
assert n(public.fit(X, y)) == 1000 and public.score(X, y) > 0.8
assert n(public.set_params(bounds=([0, 1], [2, 3])).fit(X, y)) == 1000
public.set_params(bounds=(0, 1), person="nobody")
says("'nobody' is no column", public.fit, X, y)
says("'nobody' is no column", public.fit, X.to_numpy(), y)
number = dpline.DPRegressor(5, bounds=(0, 1), label_bounds=(0, 1), person="patient_id")
assert n(number.fit(X, X["age"])) == 1000
# without a word on persons, an identifier that repeats is asked about, as in a table
public.set_params(person=None, bounds=([0, 0, 0], [1, 1, 1000]))
asks = says("column 'patient_id' looks like an identifier, and repeats. If a person may have several rows, person='patient_id' protects all",
            public.fit, X, y)
assert asks.status == 5 and "person=False if each row is another person" in str(asks)
assert n(public.fit(X[:1000], y[:1000])) == 1000 and n(public.fit(X.rename(columns={"patient_id": "weight"}), y)) == 3000
assert n(public.set_params(person=False).fit(X, y)) == 3000 and hasattr(public, "coef_")
# also in a table of texts, all of whose columns are given
visits = pd.DataFrame({"patient_id": np.arange(3000) // 3, "job": np.where(y, "a", "b")})
given = dpline.DPClassifier(5, bounds={"patient_id": (0, 1000)}, categories={"job": ["a", "b"]}, classes=[False, True])
says("column 'patient_id' looks like an identifier, and repeats", given.fit, visits, y)
assert n(given.set_params(person=False).fit(visits, y)) == 3000
# a fit that fails leaves nothing of the one before
for bad in lambda: public.fit(X[:60], y[:60]), lambda: public.fit(X * np.nan, y), lambda: public.set_params(person=None).fit(X, y):
    public.set_params(person=False).fit(X, y)
    says("", bad) # too few, NaN, a question
    says("not fitted yet", public.predict, X)
    assert not {"model_", "coef_", "epsilon_", "schema_", "said_"} & {*vars(public)}, vars(public)
# class_weight without a class
public.set_params(person=False, class_weight={}).fit(X, y)
# units, the header again, a total, an empty row: each row is learned from, and has its own prediction
kinds = ["kg", "kind"] + ["a", "", "b"] * 1000 + ["kind"]
odd = pd.DataFrame({"kind": kinds, "size": ["cm", "size"] + [str(k % 7) for k in range(3000)] + ["size"]})
odd.loc[len(odd)] = ["total", None]
sick = pd.Series(["no", "sick", *np.where(np.array(kinds[2:-1]) == "a", "yes", "no"), "sick", ""], name="sick")
for table in odd, odd[["kind"]], odd[["kind"]].rename(columns={"kind": "row"}):
    model, told = warned(dpline.DPClassifier(5, private_schema=True, classes=["no", "yes", "sick"]).fit, table, sick)
    assert n(model) == len(odd) and not [line for line in told if "skipped" in line], told
    assert not [c for c in model.schema_["columns"] if c["type"] == "ignore"] and "so the options say" not in " ".join(model.said_)
    (predicted, chances), told = warned(lambda: (model.predict(table), model.predict_proba(table)))
    assert len(predicted) == len(chances) == len(odd) and not [line for line in told if "skipped" in line], told
    assert np.mean(predicted[2:3002] == sick[2:3002]) > 0.9, np.mean(predicted[2:3002] == sick[2:3002])
    alone = warned(model.predict, table[2:5])[0]
    assert list(alone) == list(predicted[2:5])
# a class of two rows, which the noise of this seed hides
_, told = warned(dpline.DPClassifier(5, private_schema=True, classes=["no", "yes", "sick"], random_state=1).fit, odd, sick)
assert "dp-import: warning: perhaps no row has the class 'sick'" in told, told
known = dpline.DPClassifier(5, bounds={"w": (0, 1)}, categories={"kind": ["a", "b"]}, classes=["no", "yes"])
table, sick = odd[["kind"]].assign(w=0.5), sick.where(sick == "yes", "no")
says("inconsistent numbers of samples: 3004 rows, 3000 labels", known.fit, table, sick[:3000])
assert n(known.fit(table, sick)) == len(odd) == 3004 and "'row" not in " ".join(known.said_)
run = dpline._run
dpline._run = lambda *words, **more: (run(*words, **more)[0].rsplit("\n", 2)[0] + "\n", [])
says("3003 predictions for 3004 rows", known.predict, table)
dpline._run = run
# an exact fact about the rows is a warning, and not in what goes on
note = pd.Series(["x", "y"] * 1000)
note[7] = "\n".join(["1,2,3,4"] * 40)
fat = pd.DataFrame({"note": note, "age": np.arange(2000) % 90})
model = dpline.DPClassifier(bounds={"age": (0, 90)}, categories={"note": ["x", "y"]}, classes=[False, True])
_, told = warned(model.fit, fat, fat["age"] > 40)
assert len([line for line in told if "a quote opens here" in line]) > 0, told
for text in " ".join(model.said_), model._repr_html_(), str(pickle.dumps(model)):
    assert "a quote opens here" not in text and "warning: " not in text
END
    python rows.py
}

@test "scikit-learn's check_estimator: what does not pass is too few rows" {
    /usr/bin/python3 -c 'import sklearn' 2> /dev/null || skip "needs python3-sklearn"
    cat > check.py << 'END'
import sys; sys.modules["pandas"] = None # with pandas, three checks more would run
import re, warnings
from unittest import SkipTest
import dpline, numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator
warnings.simplefilter("ignore")
class Repeated:
    def _train(self, X, target, kept, *more):
        return super()._train(np.tile(X, (60, 1)), np.tile(target, 60), np.tile(kept, 60), *more)
    def _more_tags(self):
        return {**super()._more_tags(), "poor_score": False} # with so many rows the score counts
class Classifier(Repeated, dpline.DPClassifier):
    pass
class Regressor(Repeated, dpline.DPRegressor):
    pass
rows = {}
for make in dpline.DPClassifier, dpline.DPRegressor, lambda: Classifier(100, allow_weak=True), lambda: Regressor(100, allow_weak=True):
    passed = skipped = 0
    for estimator, check in check_estimator(make(), generate_only=True):
        try:
            check(estimator)
            passed += 1
        except SkipTest: # by a tag, or without pandas
            skipped += 1
        except Exception as failure:
            texts = str(failure), str(failure.__cause__)
            few = any("too few to hide" in text for text in texts) and not isinstance(estimator, Repeated)
            assert few or "pandas is not installed" in texts[0], (check, failure)
            if few:
                name = check.func.__name__
                rows.setdefault(name, {})[type(estimator)] = re.search(r"([0-9]+) rows are too few", str(failure)).group(1)
    print(passed, skipped)
with open("table", "w") as table:
    for name, by in sorted(rows.items()):
        print("|", f"`{name}`", *(f"| {by[kind]}" if kind in by else "|" for kind in (dpline.DPClassifier, dpline.DPRegressor)), "|", file=table)
X = np.random.default_rng(1).uniform(size=(600, 3)) # 0.995, deviation 0.002
assert cross_val_score(dpline.DPClassifier(5, bounds=(0, 1), classes=[False, True]), X, X[:, 0] > X[:, 1], cv=3).mean() > 0.8
END
    timeout -k 2 300 /usr/bin/python3 check.py > out 2> err || fail "$(tail -n 5 err)"
    [ "$(sklearn_version)" != 1.2.1 ] || assert_equal "$(echo $(cat out))" '22 5 19 6 44 6 40 6'
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

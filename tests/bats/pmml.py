"""An evaluator of the parts of PMML 4.4 that dp-export writes: by the standard's words, not by dp-export's code."""
import datetime
import math
import re
import xml.etree.ElementTree as tree

NS = "{http://www.dmg.org/PMML-4_4}"
MISSING = None


class Model:
    def __init__(self, path):
        root = tree.parse(path).getroot()
        assert root.tag == NS + "PMML" and root.get("version") == "4.4"
        self.fields = {f.get("name"): f for f in root.find(NS + "DataDictionary")}
        self.model = root.find(NS + "RegressionModel")
        order = [c.tag.removeprefix(NS) for c in self.model]
        known = ["MiningSchema", "LocalTransformations", "RegressionTable"]
        assert order == sorted(order, key=known.index), order
        self.mining = list(self.model.find(NS + "MiningSchema"))
        self.target = next(f.get("name") for f in self.mining if f.get("usageType") == "target")

    def cell(self, field, mining, text):
        """The value of a cell; ValueError: the row has no result."""
        values = field.findall(NS + "Value")
        if text in [v.get("value") for v in values if v.get("property") == "missing"]:
            if mining.get("missingValueTreatment") == "returnInvalid":
                raise ValueError
            return MISSING
        valid = [v.get("value") for v in values if v.get("property", "valid") == "valid"]
        try:
            if field.get("dataType") == "dateDaysSince[1970]":
                if not re.fullmatch(r"\d{4}-\d\d-\d\d", text):
                    raise ValueError
                return float((datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days)
            if field.get("optype") == "continuous":
                value = float(text)
                if "x" in text or not math.isfinite(value):
                    raise ValueError
                return value
            if valid and text not in valid:
                raise ValueError
        except ValueError:
            if mining.get("invalidValueTreatment") == "asMissing":
                return MISSING
            assert mining.get("invalidValueTreatment") == "returnInvalid"
            raise
        return text

    def apply(self, x):
        name, *a = x.get("function"), *x
        if name == "trimBlanks":
            text = self.value(a[0])
            return x.get("mapMissingTo") if text is MISSING else text.strip(" ")
        if name == "if":
            test = self.value(a[0])
            return MISSING if test is MISSING else self.value(a[1 if test else 2])
        v = [self.value(y) for y in a]
        if name == "isMissing":
            return v[0] is MISSING
        if MISSING in v:
            return MISSING
        return {"+": lambda p, q: p + q, "-": lambda p, q: p - q, "*": lambda p, q: p * q, "/": lambda p, q: p / q,
                "sqrt": math.sqrt, "cos": math.cos, "exp": math.exp, "floor": math.floor, "lessThan": lambda p, q: p < q}[name](*v)

    def value(self, x):
        kind = x.tag.removeprefix(NS)
        if kind == "Constant":
            return float(x.text) if x.get("dataType") == "double" else x.text
        if kind == "FieldRef":
            return self.known[x.get("field")]
        if kind == "Apply":
            return self.apply(x)
        if kind == "MapValues":
            pair = x[0].get("field"), x[0].get("column")
            for row in x[1]:
                if row.find(NS + pair[1]).text == self.known[pair[0]] or (self.known[pair[0]] == "" and not row.find(NS + pair[1]).text):
                    return float(row.find(NS + x.get("outputColumn")).text)
            return float(x.get("defaultValue")) if "defaultValue" in x.attrib else MISSING
        v = self.known[x.get("field")]
        if v is MISSING:
            return MISSING
        if kind == "Discretize":
            for b in x:
                i = b.find(NS + "Interval")
                assert i.get("closure") == "closedOpen"
                if float(i.get("leftMargin")) <= v < float(i.get("rightMargin", "inf")):
                    return float(b.get("binValue"))
            raise AssertionError
        assert kind == "NormContinuous" and x.get("outliers") == "asExtremeValues", kind
        points = [(float(p.get("orig")), float(p.get("norm"))) for p in x]
        v = min(max(v, points[0][0]), points[-1][0])
        for (a, b), (c, d) in zip(points, points[1:]):
            if a <= v <= c:
                return b + (v - a) / (c - a) * (d - b)
        raise AssertionError

    def predict(self, row):
        try:
            self.known = {f.get("name"): self.cell(self.fields[f.get("name")], f, row[f.get("name")])
                          for f in self.mining if f.get("usageType") != "target"}
        except ValueError:
            return None
        for field in self.model.find(NS + "LocalTransformations"):
            self.known[field.get("name")] = self.value(field[0])
        scores = {}
        for t in self.model.findall(NS + "RegressionTable"):
            if any(self.known[p.get("name")] is MISSING for p in t):
                return None
            parts = [float(p.get("coefficient")) * self.known[p.get("name")] for p in t]
            scores[t.get("targetCategory")] = float(t.get("intercept")) + math.fsum(parts)
        how = self.model.get("normalizationMethod")
        if self.model.get("functionName") == "regression":
            return {"prediction": scores[None]}
        parts = {k: math.exp(u - max(scores.values())) for k, u in scores.items()}
        have = {"probability_" + k: p / sum(parts.values()) for k, p in parts.items()} if how == "softmax" else {}
        # a tie goes to the class that comes first in the data dictionary
        classes = [v.get("value") for v in self.fields[self.target]]
        assert set(classes) == set(scores)
        return have | {"prediction": max(classes, key=scores.get)}

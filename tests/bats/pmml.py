"""An evaluator of the parts of PMML 4.4 that dp-export writes: by the standard's words, not by dp-export's code."""
import math
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
        known = ["MiningSchema", "Targets", "LocalTransformations", "RegressionTable"]
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
        if name == "if":
            test = self.value(a[0])
            return MISSING if test is MISSING else self.value(a[1 if test else 2])
        v = [self.value(y) for y in a]
        if name == "isMissing":
            return v[0] is MISSING
        if MISSING in v:
            return MISSING
        return {"+": lambda p, q: p + q, "-": lambda p, q: p - q, "*": lambda p, q: p * q, "/": lambda p, q: p / q,
                "min": min, "max": max, "sum": lambda *p: math.fsum(p), "sqrt": math.sqrt, "cos": math.cos,
                "greaterThan": lambda p, q: p > q, "isIn": lambda p, *q: p in q}[name](*v)

    def value(self, x):
        kind = x.tag.removeprefix(NS)
        if kind == "Constant":
            return float(x.text) if x.get("dataType") == "double" else x.text
        if kind == "FieldRef":
            return self.known[x.get("field")]
        if kind == "Apply":
            return self.apply(x)
        v = self.known[x.get("field")]
        if v is MISSING:
            return MISSING
        if kind == "Discretize":
            for b in x:
                i = b.find(NS + "Interval")
                low, high = float(i.get("leftMargin")), float(i.get("rightMargin"))
                if low <= v < high or (v == high and i.get("closure") == "closedClosed"):
                    return float(b.get("binValue"))
            return float(x.get("defaultValue"))
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
            parts = [float(p.get("coefficient")) * self.known[p.get("name")] for p in t]
            scores[t.get("targetCategory")] = float(t.get("intercept")) + math.fsum(parts)
        how = self.model.get("normalizationMethod")
        if self.model.get("functionName") == "regression":
            t = self.model.find(NS + "Targets")[0]
            y = math.exp(scores[None]) if how == "exp" else scores[None]
            y = min(max(y, float(t.get("min", "-inf"))), float(t.get("max", "inf")))
            return {"prediction": y * float(t.get("rescaleFactor")) + float(t.get("rescaleConstant"))}
        parts = {k: math.exp(u - max(scores.values())) for k, u in scores.items()}
        have = {"probability_" + k: p / sum(parts.values()) for k, p in parts.items()} if how == "softmax" else {}
        # a tie goes to the class that comes first in the data dictionary
        classes = [v.get("value") for v in self.fields[self.target]]
        assert set(classes) == set(scores)
        return have | {"prediction": max(classes, key=scores.get)}

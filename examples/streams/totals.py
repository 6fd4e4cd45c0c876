#!/usr/bin/python3
"""Means of columns of rows that arrive, per window and so far, with intervals, from moments with correlated noise.

    totals.py laps N               the frames that begin a run of N laps without a model, for dp-window
    totals.py errors [N...]        the RMS error of N running totals, in units of z C: B = N, and independent noise
    totals.py table [COLUMN]       CSV of the released frames on standard input; a COLUMN: its running mean as SVG instead

The sum of window t has the noise r_t of dp-privacy(7): r = C^-1 z. So the noise on the sum of the first t windows has the deviation
|a_1 ... a_t| of z, where a are the prefix sums of the first column of C^-1; windows by themselves have the same without sums.
"""
import json
import math
import struct
import sys

import msgpack


def laps(count):
    lap = {"kind": "lap", "label": "released", "records": [], "laps": count}
    frames = [{"kind": "hello", "format": 2, "stage": 0, "laps": count}]
    frames += [lap | {"lap": t} for t in range(1, count + 1)]
    sys.stdout.buffer.write(b"".join(map(msgpack.packb, frames + [{"kind": "end"}])))


def deviations(bands, count):
    """Of each lap and of each total, in deviations of z."""
    c, inverse = [1], []
    for k in range(1, bands):
        c.append(c[-1] * (2 * k - 1) / (2 * k))
    c = [round(4096 * x) / 4096 for x in c]
    for t in range(count):
        inverse.append((t == 0) - sum(c[k] * inverse[t - k] for k in range(1, min(t + 1, bands))))
    alone, so_far, a = [], [], 0
    for x in inverse:
        a += x
        alone.append(math.hypot(alone[-1] if alone else 0, x))
        so_far.append(math.hypot(so_far[-1] if so_far else 0, a))
    return alone, so_far


def errors(counts):
    """The record's scale is |c| z C, see dp-privacy(7), and |c| is the deviation of the last total."""
    print("totals,correlated,independent")
    for n in counts:
        so_far = deviations(n, n)[1]
        print(f"{n},{so_far[-1] * math.sqrt(sum(x * x for x in so_far) / n):.2f},{math.sqrt((n + 1) / 2):.2f}")


def columns(schema):
    """name, low, width: a value is low + width * stored value * divisor."""
    for c in schema["columns"]:
        if c["type"] == "numeric":
            low, high = c["bounds"]
            yield c["name"], low, high - low
        elif c["type"] == "categorical":
            for category in c["categories"]:
                yield f"{c['name']}={category if isinstance(category, str) else category[0]}", 0, 1


def ints(code, data):
    return struct.unpack_from(f"<{(len(data) - 2 - 8 * data[1]) // 8}q", data, 2 + 8 * data[1])


def rows():
    """window, rows so far, column, mean of the window and its margin, mean so far and its margin (95 percent)."""
    frames = [f for f in msgpack.Unpacker(sys.stdin.buffer, raw=False, ext_hook=ints, max_buffer_size=2**31) if f["kind"] == "lap"]
    total = 0
    for t, f in enumerate(frames):
        record, schema = f["records"][0], json.loads(f["schema"])
        if t == 0:
            named = list(columns(schema))
            size, sums = len(named) + 1, [0] * len(named)
            alone, so_far = deviations(record.get("correlated", 1), len(frames))
            if len(f["sum"]) != size * (size + 1) // 2 or not schema["bias"] or schema["row_norm"] != "bounds":
                sys.exit("totals.py: columns need bounds or categories, and no other features")
        total += f["n"]
        divisor = float(f["row_norm"].split(",")[0].split()[-1])
        for j, (name, low, width) in enumerate(named):
            last = j * size - j * (j - 1) // 2 + size - 1 - j  # of the upper triangle: with the constant
            value = f["sum"][last] * f["grid"] * divisor**2 / math.sqrt(2)
            sums[j] += value
            margin = 1.96 * width * record["scale"] * divisor**2 / math.sqrt(2)
            yield (t + 1, total, name, low + width * value / f["n"], margin * alone[t] / f["n"],
                   low + width * sums[j] / total, margin * so_far[t] / total)


def ticks(low, high):
    """Round numbers within, three to eight."""
    step = 10 ** math.floor(math.log10((high - low) / 2.5))
    step *= next(k for k in (1, 2, 5, 10) if (high - low) / (k * step) < 7)
    return [step * k for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def svg(points, name):
    """points: window, mean, margin."""
    points = points[len(points) // 50:]  # the first intervals are the widest
    low, high = min(m - e for _, m, e in points), max(m + e for _, m, e in points)
    first, last = points[0][0], points[-1][0]
    across = lambda t: 60 + 520 * (t - first) / max(last - first, 1)
    up = lambda v: 310 - 270 * (v - low) / (high - low)
    x = [across(t) for t, _, _ in points]
    y = [[up(v) for v in (m - e, m, m + e)] for _, m, e in points]
    band = [f"{a:.1f},{b[0]:.1f}" for a, b in zip(x, y)] + [f"{a:.1f},{b[2]:.1f}" for a, b in reversed(list(zip(x, y)))]
    print('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 360" font-family="system-ui, sans-serif" font-size="11">')
    print('<rect width="600" height="360" fill="#fff"/>')
    for value in ticks(low, high):
        print(f'<line x1="60" x2="580" y1="{up(value):.1f}" y2="{up(value):.1f}" stroke="#ddd"/>')
        print(f'<text x="54" y="{up(value) + 4:.1f}" text-anchor="end">{value:.6g}</text>')
    for window in [t for t in ticks(first, last + 1) if t == int(t) and first <= t <= last]:
        print(f'<line x1="{across(window):.1f}" x2="{across(window):.1f}" y1="310" y2="314" stroke="#555"/>')
        print(f'<text x="{across(window):.1f}" y="328" text-anchor="middle">{window:.0f}</text>')
    print(f'<polygon points="{" ".join(band)}" fill="#2563a8" fill-opacity=".25" stroke="#2563a8" stroke-opacity=".25"/>')
    print(f'<polyline points="{" ".join(f"{a:.1f},{b[1]:.1f}" for a, b in zip(x, y))}" stroke="#2563a8" fill="none"/>')
    print(f'<circle cx="{x[-1]:.1f}" cy="{y[-1][1]:.1f}" r="2" fill="#2563a8"/>')
    print('<line x1="60" x2="580" y1="310" y2="310" stroke="#555"/>')
    print(f'<text x="60" y="24">mean of {name} so far, 95 % interval of the noise</text>')
    print('<text x="320" y="348" text-anchor="middle">window</text></svg>')


if sys.argv[1:2] == ["laps"] and len(sys.argv) == 3:
    laps(int(sys.argv[2]))
elif sys.argv[1:2] == ["errors"]:
    errors([int(n) for n in sys.argv[2:]] or [256, 1024])
elif sys.argv[1:2] == ["table"] and len(sys.argv) == 2:
    print("window,rows,column,window_mean,window_margin,mean,margin")
    for row in rows():
        print(",".join(f"{v:.6g}" if isinstance(v, float) else str(v) for v in row))
elif sys.argv[1:2] == ["table"] and len(sys.argv) == 3:
    column = [(r[0], r[5], r[6]) for r in rows() if r[2] == sys.argv[2]]
    svg(column, sys.argv[2]) if column else sys.exit(f"totals.py: no column {sys.argv[2]}")
else:
    sys.exit(__doc__)

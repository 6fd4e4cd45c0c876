# The noise of what dp-import releases has the law and the scale that were paid for, by what can be seen of it.
load helper

# law CODE: runs it as Python, with released.py
law() { PYTHONPATH=$ROOT/tests/bats /usr/bin/python3 -c "from released import *; import json; $1"; }

# Of 3000 texts and as many classes with 21 to 79 rows each, those are named whose noised count exceeds the threshold, 60 for a text,
# and 40 for a class, which counts w times. Half of delta pays for names, so that a threshold from all of it
# is lower by 0.14 deviations. 10 seeds tell 0.06 of a text, 0.09 of a class, and 9 % of the scale. With other seeds, each of the four
# sums exceeds 5 once in 1.7e6 times.
@test "a text and a class of a paid schema is named by the noise, the half of delta and the weight that were paid for" {
    law '
with open("t.csv", "w") as out:
    print("x,a,b,c,d,e,f,g,h,i,y", file=out)
    rows = [f"{k}_{i}" for k in range(21, 80, 2) for i in range(100) for _ in range(k)]
    for row in rows:
        print(f"t{row},0,0,0,0,0,0,0,0,0,c{row}", file=out)'
    for seed in {1..10}; do
        dp-import t.csv --infer-schema "$seed.json" --private-schema 1.9 --delta 2e-5 --allow-weak --noise-seed "$seed" --no-ledger -q 2> said
    done
    law '
columns, outcomes = 11, ([], [])
scale = multiplier(1.9, 1e-5) * sqrt(17 / 16 * columns + (columns + 1) / 3)
threshold = 20 + scale * normal.inv_cdf(1 - 1e-5 / columns)
for seed in range(1, 11):
    schema = json.load(open(f"{seed}.json"))["columns"]
    for j, (names, weight) in enumerate(((schema[0]["categories"], 1), (schema[-1]["classes"], sqrt((columns + 1) / 3)))):
        names = [name if isinstance(name, str) else name[0] for name in names]
        for k in range(21, 80, 2):
            z = ((k - 20) * weight - (threshold - 20)) / scale
            if abs(z) < 3:
                outcomes[j].append((z, 100, sum(name[1:].startswith(f"{k}_") for name in names)))
for what, found in zip(("text", "class"), outcomes):
    lower, wider = scores(found)
    assert abs(lower) < 5 and abs(wider) < 5, f"{what}: threshold off by {lower} deviations, scale by {wider}"'
    # without a seed the noise is another one each time: the same names once in 2^100 times
    for i in 1 2; do dp-import t.csv --infer-schema "own$i.json" --private-schema 1.9 --delta 2e-5 --allow-weak --no-ledger -q 2> said; done
    run -1 cmp -s own1.json own2.json
}

# Rows are even over the 256 cells of each column. The fourth of seven knots is then off by half of the noise on all cells, less
# that on the lower cells, over the count of a cell. The noise on t cells is the sum of a[t - s] z_s, with a the prefix sums of C^-1.
# is_normal states how often 150 draws of true noise fail by chance: with persons or not, less than once in a million runs.
@test "knots have the noise that was paid for, for all rows of a person" {
    for persons in 1 2; do
        law "
ids = [{'name': 'p', 'type': 'person'}] if $persons == 2 else []
columns = ids + [{'name': f'x{i}', 'type': 'numeric', 'bounds': [0, 256]} for i in range(30)]
json.dump({'header': False, 'columns': columns + [{'name': 'y', 'type': 'label', 'classes': ['0', '1']}]}, open('k.json', 'w'))
with open('k.csv', 'w') as out:
    for row in range(256 * 160):
        print((f'p{row // 2},' if ids else '') + f'{row // 160}.5,' * 30 + str(row % 2), file=out)"
        for i in {1..5}; do
            dp-import k.csv -q -s k.json $([ $persons = 1 ] || echo --rows-per-person 2) --basis hats --private-knots 8 --delta 1e-6 --no-ledger -f -o k.dp
            jq -r '.schema.columns[] | select(.knots).knots[4]' k.dp/dataset.json
        done > fourth
        law "
scale = $persons * sqrt(30) * multiplier(8, 1e-6)
c, inverse = [1], []
for k in range(1, 256):
    c.append(c[-1] * (2 * k - 1) / (2 * k))
c = [round(4096 * x) / 4096 for x in c]
for t in range(256):
    inverse.append((t == 0) - sum(c[k] * inverse[t - k] for k in range(1, t + 1)))
a = [sum(inverse[:t + 1]) for t in range(256)]
norm = sum(x * x for x in c)
off = sum((a[255 - s] / 2 - (a[127 - s] if s < 128 else 0)) ** 2 for s in range(256))
draws = [(float(line) - 128) * (160 + 2 * scale * norm / 256) / (scale * sqrt(norm * off)) for line in open('fourth')]
assert len(draws) == 150
is_normal(draws, 'knots')"
    done
}

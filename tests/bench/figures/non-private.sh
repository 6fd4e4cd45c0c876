#!/usr/bin/env bash
# Hinge loss, Adult in ones and zeros, to a duality gap of 1e-4, from the file to the model; and liblinear to the same gap.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source-path=SCRIPTDIR/..
. ./common.sh
lambda=1e-5
file=$out/adult.libsvm
if [ ! -e "$data/adult/adult.data.gz" ]; then
    skip "dp-scd-step --variant non-private" "$no_adult"
    exit 0
fi
[ -s "$file" ] || gzip -dc "$data/adult/adult.data.gz" | awk -f one-hot.awk > "$file"
rows=$(wc -l < "$file")
cols=$(awk '{ sub(/:.*/, "", $NF); if ($NF + 0 > most) most = $NF + 0 } END { print most }' "$file")
d=$out/adult-csr.dp
import="dp-import libsvm -q -f --storage csr --no-bias --row-norm none --classes -1,1 --cols $cols -o $d $file"
descent="dp-loop -q -x fused --laps 1000 --stop-gap 1e-4 --seed 1 -o $out/non-private.model \"dp-sample --data $d --mode full | dp-scd-step --data $d --loss hinge --lambda $lambda --variant non-private | dp-account --non-private --allow-seeded | dp-step\""
# gap MODEL FILE: of liblinear, whose output has the dual's value: lambda times primal and dual
gap() {
    awk -v lambda=$lambda -v dual="$1" '
        FNR == NR { if (/^label/) sign = $2; if (body) w[++m] = $1; if ($1 == "w") body = 1; next }
        { z = 0; for (i = 2; i <= NF; i++) { split($i, p, ":"); z += w[p[1]] * p[2] } z *= sign * $1; loss += z < 1 ? 1 - z : 0 }
        END { for (j = 1; j <= m; j++) s += w[j] ^ 2; printf "%.3g", lambda * s / 2 + loss / FNR + lambda * dual }' "$2" "$3"
}
cost=$(calculate "1 / ($lambda * $rows)")
if has liblinear-train; then
    for e in 1 0.3 0.1 0.03 0.01 0.003 0.001; do
        dual=$(liblinear-train -s 3 -c "$cost" -e $e "$file" "$out/liblinear.model" | sed -n 's/^Objective value = //p')
        reached=$(gap "$dual" "$out/liblinear.model" "$file")
        [ "$(calculate "$reached <= 1e-4")" = 0 ] || break
    done
    value "gap of liblinear -e $e" "of 1" "$reached"
fi
for ((turn = 0; turn < turns; turn++)); do
    value "dp-import libsvm" s "$(seconds bash -c "$import")"
    value "dp-loop, from the data set" s "$(seconds bash -c "$descent")"
    value "both, from the file" s "$(seconds bash -c "$import && $descent")"
    ! has liblinear-train || value "liblinear-train -s 3, from the file" s "$(seconds liblinear-train -q -s 3 -c "$cost" -e "$e" "$file" "$out/liblinear.model")"
    ! python sklearn || peer sgd-classifier "$file" $lambda "$cost" | values
done
value "gap of dp-loop" "of 1" "$(dp-info --get gap "$out/non-private.model")"
wanted "gap of dp-loop" "of 1" "<= 1e-4"
if has liblinear-train; then
    ratio "both, from the file, to liblinear" s "both, from the file" "liblinear-train -s 3, from the file" "<= 1.5"
    ratio "dp-loop, from the data set, to liblinear" s "dp-loop, from the data set" "liblinear-train -s 3, from the file"
else
    skip "liblinear-train -s 3" "no liblinear-train: Debian has it in liblinear-tools"
fi
python sklearn || skip "scikit-learn, SGDClassifier" "no Python has sklearn"

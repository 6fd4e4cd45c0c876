# shellcheck shell=bash disable=SC2154
# Sourced by run.sh: the data sets SET.dp, SET-validation.dp and SET-test.dp. As in appendix E, a quarter of the rows that are not for testing is
# for validation.

# sets: those whose files are there
sets() {
    local set
    for set in adult phishing year protein blogfeedback; do [ ! -e "$raw/$(file_of $set)" ] || echo $set; done
}
file_of() {
    case $1 in
        adult) echo adult/adult.test.gz ;;
        phishing) echo phishing/phishing.gz ;;
        year) echo year/YearPredictionMSD.txt ;;
        protein) echo protein/protein.csv.gz ;;
        blogfeedback) echo blogfeedback/BlogFeedback.zip ;;
    esac
}

# table SET: all rows as text
table() {
    case $1 in
        adult) gzip -dc "$raw/adult/adult.data.gz" ;;
        phishing) gzip -dc "$raw/phishing/phishing.gz" | shuffled ;;
        year) scaled 1 < "$raw/year/YearPredictionMSD.txt" ;;
        protein) gzip -dc "$raw/protein/protein.csv.gz" | shuffled | scaled 10 ;;
        blogfeedback) unzip -p "$raw/blogfeedback/BlogFeedback.zip" blogData_train.csv | shuffled | scaled 281 ;;
    esac
}
# tested SET: how many of the last rows are for testing. The paper's: year has such a part, phishing a quarter.
tested() { case $1 in year) echo 51630 ;; phishing) echo 2764 ;; protein) echo 11433 ;; blogfeedback) echo 13100 ;; esac; }

# shuffled: the lines on standard input in an order that is the same with every awk
shuffled() {
    awk 'BEGIN { x = 20210201 } { x = (x * 16807) % 2147483647; printf "%d\t%s\n", x, $0 }' | sort -n -k 1,1 | cut -f 2-
}
# scaled LABEL: each column of numbers divided by its largest magnitude, and the label centred, over all rows, as the appendix says
scaled() {
    local rows
    rows=$(mktemp "$out/rows.XXXXXX")
    cat > "$rows"
    awk -F , -v OFS=, -v label="$1" 'NR == FNR { n++; sum += $label; for (i = 1; i <= NF; i++) { x = $i < 0 ? -$i : $i; if (x > most[i]) most[i] = x } next }
        { for (i = 1; i <= NF; i++) $i = i == label ? $i - sum / n : most[i] > 0 ? $i / most[i] : 0; print }' "$rows" "$rows"
    rm "$rows"
}

# schema SET: Adult's test rows are scaled and filled by what was measured on the others; numbers are as they are, and labels have round bounds
schema() {
    case $1 in
        adult-test) sed -e '/"age"/s/"scale": "max-abs"/"bounds": [0, 90]/' -e '/"education-num"/s/"scale": "max-abs"/"bounds": [0, 16]/' \
            -e '/"capital-gain"/s/"scale": "max-abs"/"bounds": [0, 99999]/' -e '/"capital-loss"/s/"scale": "max-abs"/"bounds": [0, 4356]/' \
            -e '/"hours-per-week"/s/"scale": "max-abs"/"bounds": [0, 99]/' -e '/"workclass"/s/"mode"/"Private"/' \
            -e '/"occupation"/s/"mode"/"Prof-specialty"/' -e '/"native-country"/s/"mode"/"United-States"/' schema-adult.json ;;
        adult*) cat schema-adult.json ;;
        year*) numbers 91 1 60 ;;
        protein*) numbers 10 10 2 ;;
        blogfeedback*) numbers 281 281 1500 ;;
    esac
}
# numbers COLUMNS LABEL BOUND
numbers() {
    local i
    echo '{"columns": ['
    for i in $(seq "$1"); do
        if [ "$i" = "$2" ]; then
            echo " {\"name\": \"label\", \"type\": \"label\", \"bounds\": [-$3, $3]}"
        else
            echo " {\"name\": \"x$i\", \"type\": \"numeric\", \"scale\": \"none\"}"
        fi
    done | sed '$!s/$/,/'
    echo ']}'
}

# there SET: whether its file is
there() {
    [ ! -e "$raw/$(file_of "$1")" ] || return 0
    say "skipping: $raw/$(file_of "$1") is not there (get-data.sh fetches it)"
    return 1
}
# import_set SET
import_set() {
    local set=$1 how=(csv) last
    [ ! -d "$out/$set-test.dp" ] || return 0
    [ "$set" != phishing ] || how=(libsvm --classes '0,1' --cols 68 --scale max-abs)
    table "$set" > "$out/$set.txt"
    if [ "$set" = adult ]; then
        gzip -dc "$raw/adult/adult.test.gz" | grep -v '^|' > "$out/$set-test.txt"
    else
        last=$(tested "$set")
        tail -n "$last" "$out/$set.txt" > "$out/$set-test.txt"
        head -n "-$last" "$out/$set.txt" > "$out/$set.part" && mv "$out/$set.part" "$out/$set.txt"
    fi
    import "$set" "$set" --split 0.75 --seed 1 --test "$out/$set-validation.dp"
    import "$set-test" "$set-test"
}
# import NAME ROWS [option…]: NAME.dp of ROWS.txt
import() {
    local kind=("${how[@]}")
    [ "${how[0]}" != csv ] || { schema "$1" > "$out/$1.json" && kind+=(--schema "$out/$1.json"); }
    dp-import "${kind[@]}" -q --row-norm unit --no-bias --population "$1" "${@:3}" -o "$out/$1.dp" "$out/$2.txt"
}

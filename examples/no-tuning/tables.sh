# shellcheck shell=bash disable=SC2154
# Sourced by curves.sh and rivals.sh: tables and their public schemas.

# columns FILE: a schema of numbers with round bounds ("NAME LOW HIGH"), categories ("NAME A,B,C") and a label ("label LOW HIGH")
columns() {
    printf '{"header": true, "columns": [\n'
    awk -v name="$1" '{
        printf "%s {\"name\": \"%s\", \"type\": \"%s\", ", (NR > 1 ? ",\n" : ""), $1, (name == $1 ? "label" : NF == 3 ? "numeric" : "categorical")
        gsub(",", "\", \"", $2)
        if (NF == 3) printf "\"bounds\": [%s, %s]}", $2, $3
        else printf "\"categories\": [\"%s\"]}", $2
    }'
    printf '\n]}\n'
}
# bounds SET: the schema. Bounds are round numbers beyond which the documentation, or common sense, has nothing
bounds() {
    local numbers='age 17 90 education-num 1 16 capital-gain 0 99999 capital-loss 0 5000 hours-per-week 1 99'
    case $1 in
        adult)
            schema adult | sed 's/, "drop": "first", "fill": "mode"/, "indicator": true/' |
                awk -v numbers="$numbers" 'BEGIN { for (n = split(numbers, a, " "); n > 0; n -= 3) to[a[n - 2]] = "\"bounds\": [" a[n - 1] ", " a[n] "]" }
                    split($0, a, "\"") > 3 && a[4] in to { sub("\"scale\": \"max-abs\"", to[a[4]]) } { print }'
            ;;
        protein)
            printf '%s\n' 'x1 -10000 40000' 'x2 -5000 20000' 'x3 -0.5 0.5' 'x4 -100 500' 'x5 -2000000 5000000' 'x6 -200 500' 'x7 -5000 200000' \
                'x8 -100 500' 'x9 -50 50' 'label -2 2' | columns label | sed 's/"header": true/"header": false/'
            ;;
        insurance)
            printf '%s\n' 'age 18 64' 'sex female,male' 'bmi 15 55' 'children 0 5' 'smoker no,yes' 'region northeast,northwest,southeast,southwest' \
                'label 0 70000' | columns label
            ;;
        abalone)
            printf '%s\n' 'Diameter 0 1' 'Height 0 1' 'Length 0 1' 'Rings 0 30' 'Sex F,I,M' 'ShellWeight 0 2' 'ShuckedWeight 0 2' \
                'VisceraWeight 0 1' 'WholeWeight 0 3' | columns Rings
            ;;
        telco)
            printf '%s\n' 'gender Female,Male' 'SeniorCitizen 0,1' 'Partner No,Yes' 'Dependents No,Yes' 'tenure 0 72' 'PhoneService No,Yes' \
                'InternetService DSL,Fiber_optic,No' 'OnlineSecurity No,Yes' 'OnlineBackup No,Yes' 'DeviceProtection No,Yes' 'TechSupport No,Yes' \
                'StreamingTV No,Yes' 'StreamingMovies No,Yes' 'Contract Month-to-month,One_year,Two_year' 'PaperlessBilling No,Yes' \
                'PaymentMethod Bank_transfer_(automatic),Credit_card_(automatic),Electronic_check,Mailed_check' 'MonthlyCharges 0 150' \
                'TotalCharges 0 10000' 'Churn No,Yes' | columns Churn | tr _ ' ' |
                sed 's/"label", "categories": \(.*\)}/"label", "classes": \1}/; s/\(No.*\)"categories"/\1"unknown": "zero", "categories"/; s/"bounds"/"fill": 0, &/'
            ;;
        letter)
            { table "$(file letter)" | sed -n 1p | cut -d , -f 2- | tr , '\n' | sed 's/$/ 0 15/'; echo "letter $(printf '%s,' {A..Z})"; } |
                sed 's/,$//' | columns letter | sed 's/"label", "categories"/"label", "classes"/'
            ;;
        costarica) # flags, counts and squares; what is missing is 0
            table "$(file costarica)" | sed -n 1p | tr , '\n' | awk '
                BEGIN {
                    split("v2a1 1000000 v18q1 10 rez_esc 5 escolari 21 meaneduc 40 age 100 SQBescolari 441 SQBage 10000 SQBhogar_total 200 SQBedjefe 441" \
                        " SQBhogar_nin 100 SQBovercrowding 50 SQBdependency 64 SQBmeaned 1600 agesq 10000", a, " ")
                    for (n = 1; n in a; n += 2) high[a[n]] = a[n + 1]
                }
                /^(Id|idhogar|dependency|edjefe|edjefa)$/ { next }
                $0 == "Target" { print $0, "1,2,3,4"; next }
                $0 in high { print $0, 0, high[$0]; next }
                /^(rooms|r4|tam|hhsize|hogar_|bedrooms|overcrowding|qmobile)/ { print $0, 0, 15; next }
                { print $0, "0,1" }' | columns Target |
                sed 's/"label", "categories"/"label", "classes"/; s/"categories": \["0"/"drop": "first", &/; s/"bounds"/"fill": 0, &/'
            ;;
        spambase)
            { seq 0 47 | sed 's/$/ 0 5/'; seq 48 53 | sed 's/$/ 0 1/'; printf '%s\n' '54 0 10' '55 0 100' '56 0 500' 'target 0,1'; } | columns target |
                sed 's/"label", "categories"/"label", "classes"/'
            ;;
        tweets-*)
            printf '{"header": true, "columns": [{"name": "text", "type": "text", "columns": %s},
                {"name": "airline_sentiment", "type": "label", "classes": ["negative", ["neutral", "positive"]]}]}' "${1#*-}"
            ;;
        elec | diamonds | phoneme | vocab) cat "$raw/tables/$1.json" ;;
        claims)
            printf '%s\n' 'age 18 98' 'sex f,m' 'ward surgery,cardiology,emergency,geriatrics' 'bmi 14 55' 'drugs 0 20' 'smoker yes,no' 'claim no,yes' |
                columns claim | sed 's/"header"/"missing": ["", "n\/a", "unknown"], &/; s/"label", "categories"/"label", "classes"/; s/"bounds"/"indicator": true, &/; s/\("smoker".*\)"categories"/\1"indicator": true, "categories"/'
            ;;
        *-above) bounds "${1%-above}" | tr -d '\n' | sed 's/"type": "label", *"bounds": *\[[^]]*\]/"type": "label", "classes": ["0", "1"]/' ;;
        *) schema "$1" ;;
    esac
}
# claims: made-up patients of whom one in 17 of those who come back is kept, so that 6 % are of the second class; prints the file
claims() {
    [ -s "$out/claims.csv" ] || {
        dp-synth patients -q --force --rows 120000 -o "$out/patients.csv"
        awk '{ line = line $0 }
            gsub(/"/, "&", line) % 2 { next } # the note of a patient has two lines
            { gsub(/"[^"]*("")*[^"]*"/, "", line) }
            NR == 1 || tolower(line) ~ /,no$/ || ++seen % 17 == 0 { print tolower(line) }
            { line = "" }' "$out/patients.csv" | cut -d , -f 3-8,10 | sed '1s/readmitted/claim/' > "$out/claims.csv"
    }
    echo "$out/claims.csv"
}
# lines SET: the table as text. A number above a round one is the second class where the name of a set ends with -above
lines() {
    local field above
    case $1 in
        elec-above) field=7 above=4600 ;;
        diamonds-above) field=7 above=2400 ;;
        vocab-above) field=4 above=6 ;;
        abalone-above) field=4 above=9 ;;
        protein-above) field=10 above=0 ;;
        bike-above) field=17 above=140 ;;
        insurance-above) field=7 above=9000 ;;
        *) table "$(file "$1")" && return ;;
    esac
    table "$(file "${1%-above}")" | awk -F , -v OFS=, -v field=$field -v above=$above '$field ~ /^[-0-9]/ { $field = $field > above } { print }'
}
# basis_of SET SCHEMA EPSILON: options of dp-import for what `dpline fit TABLE` makes of numbers and pairs of columns
basis_of() {
    local said basis rows
    rows=$(($(lines "$1" | wc -l) * 4 / 5))
    said=$(dp-fit --epsilon "$(calculate "$3 * 0.95")" --delta 1e-5 --rows $rows "$2" 2> /dev/null) || said='"basis": "line"'
    basis=$(grep -o '"basis": "[a-z]*' <<< "$said") basis=${basis##*\"}
    [ "$basis" != products ] || basis+=" --products $(grep -o '"products": [0-9]*' <<< "$said" | grep -o '[0-9]*$')"
    echo "--basis ${basis/none/line}"
}
# knots_of EPSILON BASIS…: the part of epsilon that `dpline fit TABLE` pays for knots
knots_of() { calculate "$1 / ($([[ "${*:2}" = *products* ]] && echo 10 || echo 20))"; }
# file SET: the table
file() {
    case $1 in
        insurance | abalone | spambase | letter | elec | diamonds | phoneme | vocab) echo "$raw/tables/$1.csv.gz" ;;
        costarica) echo "$raw/tables/costa_rica_train.csv.gz" ;;
        telco) echo "$raw/tables/telco_customer_churn.csv.gz" ;;
        tweets-*) echo "$raw/tables/tweets.csv.gz" ;;
        claims) claims ;;
        *) raw_of "$1" ;;
    esac
}
export -f file table raw_of basis_of knots_of lines claims

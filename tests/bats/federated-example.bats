# The example of three sites: its data, its runs, the making of its README.
load helper

prepare() {
    mkdir -p examples
    cp -r "$ROOT/examples/common" "$ROOT/examples/federated" "$ROOT/examples/private-erm" examples
    cp -r "$ROOT/pipelines" .
    cd examples/federated
}

# people N SEED: a table like Adult, whose label follows from age and education
people() {
    awk -v n="$1" -v seed="$2" 'BEGIN {
        srand(seed)
        classes = split("Private,Private,Private,Local-gov,State-gov,Self-emp-inc,Self-emp-not-inc,?,Without-pay", class, ",")
        while (n--) {
            age = int(17 + 70 * rand())
            years = int(1 + 16 * rand())
            print age ", " class[1 + int(classes * rand())] ", 1000, 11th, " years ", Divorced, Sales, Wife, White, Female, 0, 0, 40, Peru, " \
                (age / 70 + years / 16 + rand() / 2 > 1.4 ? ">50K" : "<=50K")
        }
        print ""
    }'
}

@test "the README has the table of its measurements" {
    cp README.md before
    ../common/write-readme.sh
    diff before README.md
}

@test "the measurements can be drawn" {
    command -v gnuplot > /dev/null || skip "needs gnuplot"
    rm -f sites.png
    ./figures.sh
    [ -s sites.png ]
    grep -q '(sites.png)' README.md
}

@test "run.sh from raw tables to README, each row at one site, and no row of those that belong to none" {
    mkdir -p raw/adult
    people 900 1 | gzip > raw/adult/adult.data.gz
    people 400 2 | gzip > raw/adult/adult.test.gz
    DPLINE_DATA=$PWD/raw OUT=$PWD/out SEEDS=1 EPSILONS=3 within 900 ./run.sh --write
    assert_success
    assert_output --partial 'the model of three machines is that of one with all rows, bit by bit'
    rows=0
    for site in private government self-employed; do rows=$((rows + $(dp-info --get rows out/$site.dp))); done
    assert_equal "$(dp-info --get rows out/all.dp)" $rows
    assert_equal "$(gzip -dc raw/adult/adult.data.gz | grep -cE ', (Private|[A-Z][a-z]*-gov|Self-emp-[a-z-]*),')" $rows
    assert_equal "$(grep -c '^gate' measured.tsv)" 1
    assert_equal "$(grep -c '^alone' measured.tsv)" 3
    assert_equal "$(grep -c '^exact' measured.tsv)" 4
    assert_equal "$(sed -n '/<!-- table -->/,/<!-- end -->/p' README.md | grep -c '^| self-employed | 3 |')" 1
    assert_equal "$(ip netns list 2> /dev/null | grep -c "^federated-" || true)" 0
    DPLINE_DATA=$PWD/none OUT=$PWD/out within 120 ./run.sh
    assert_failure 1
    assert_output --partial "get-data.sh fetches it"
}

@test "where a network namespace can be made, and nothing done in it, the sites meet on loopback" {
    mkdir stub
    printf '#!/bin/sh\necho "$*" >> asked\n[ "$1" = netns ]\n' > stub/ip
    chmod +x stub/ip
    OUT=$PWD/out PATH=$PWD/stub:$PATH run bash -c '. ./common.sh; id() { echo 0; }; machines_up; echo "at $gate by <$network>"; machines_down'
    assert_success
    assert_line '== no network namespaces: all on loopback'
    assert_line --regexp '^at tcp://127\.0\.0\.1:[0-9]+ by <>$'
    assert_equal "$(sed -n '1s/add/del/p' asked)" "$(tail -n 1 asked)"
}

@test "the table has medians over seeds, site by site" {
    {
        printf 'rows\tprivate\t5\t5\n'
        for seed in 1 2 3; do
            printf 'alone\t1\tprivate\t%s\t0.%s\t0.1\t0.1\t0.1\n' $seed $((seed * 2))
            printf 'gate\t1\tall\t%s\t0.9\t0.%s\t0.7\t0.6\n' $seed $seed
        done
        for site in private government self-employed all; do printf 'exact\tinf\t%s\t1\t0.95\t0.9\t0.85\t0.8\n' $site; done
    } > lines
    awk -f table.awk lines > table
    grep -qxF $'private\t1\t0.4000\t0.9000\t\t\t0.9500\t0.9500' table || fail "$(cat table)"
    grep -qxF $'government\t1\t\t0.2000\t\t\t0.9000\t0.9000' table || fail "$(cat table)"
    grep -qxF $'all\t1\t\t0.6000\t\t\t\t0.8000' table || fail "$(cat table)"
}

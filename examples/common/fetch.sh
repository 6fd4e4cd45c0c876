# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by get-data.sh of an example, after its common.sh.
command -v curl > /dev/null || { echo "get-data.sh: needs curl" >&2 && exit 1; }
uci=https://archive.ics.uci.edu/ml/machine-learning-databases
mnist=https://ossci-datasets.s3.amazonaws.com/mnist

# fetch FILE URL [FILTER]: into $raw
fetch() {
    [ ! -e "$raw/$1" ] || return 0
    mkdir -p "$(dirname "$raw/$1")"
    echo "fetching $2" >&2
    if curl -fsSL --retry 2 --max-time 600 "$2" | ${3:-cat} > "$raw/$1.part"; then
        mv "$raw/$1.part" "$raw/$1"
    else
        rm -f "$raw/$1.part"
        echo "get-data.sh: could not fetch $2" >&2
        return 1
    fi
}
# unpack FILE ARCHIVE MEMBER
unpack() {
    [ -e "$raw/$1" ] || {
        unzip -p "$raw/$2" "$3" | gzip > "$raw/$1.part"
        mv "$raw/$1.part" "$raw/$1"
    }
}
fetch_mnist() {
    local file
    for file in train-images-idx3 train-labels-idx1 t10k-images-idx3 t10k-labels-idx1; do fetch mnist/$file-ubyte.gz $mnist/$file-ubyte.gz; done
}

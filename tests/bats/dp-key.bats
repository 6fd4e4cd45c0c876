# dp-key: the user's own pair, and trusted keys.
load helper

prepare() { umask 022; }

@test "a pair is made once, and shown" {
    complains 2 "dp-key: $PWD/k: there are no keys (dp-key new makes a pair, dp-key trust lets others in)" dp-key show "$PWD/k"
    run dp-key new k
    assert_success
    key=$output
    [ "${#key}" = 40 ]
    run dp-key show k
    assert_output "$key"
    complains 2 "dp-key: k has a key pair: others know it by that" dp-key new k
    run dp-key show k
    assert_output "$key"
    assert_equal "$(stat -c %a k k/own)" $'700\n600'
    # the secret is in the file and nowhere else
    secret=$(sed -n 's/^secret //p' k/own)
    [ "${#secret}" = 40 ]
    run dp-key show k
    refute_output --partial "$secret"
    [ "$(dp-key new other)" != "$key" ]
}

@test "the directory: an operand, DPLINE_KEYS, or where the user's settings are" {
    HOME=$PWD/home
    mkdir home
    unset XDG_CONFIG_HOME
    key=$(dp-key new)
    assert_equal "$(dp-key show home/.config/dpline/keys)" "$key"
    assert_equal "$(stat -c %a home/.config home/.config/dpline home/.config/dpline/keys | sort -u)" 700
    [ "$(XDG_CONFIG_HOME=$PWD/settings dp-key new)" != "$key" ]
    assert_equal "$(dp-key show settings/dpline/keys)" "$(XDG_CONFIG_HOME=$PWD/settings dp-key show)"
    assert_equal "$(XDG_CONFIG_HOME=settings dp-key show)" "$key" # not absolute
    touch file
    complains 1 "dp-key: cannot make file/keys: Not a directory" dp-key new file/keys
    DPLINE_KEYS=$PWD/named dp-key new
    assert_equal "$(DPLINE_KEYS=$PWD/named dp-key show)" "$(dp-key show named)"
    [ "$(dp-key show named)" != "$key" ]
    complains 2 "dp-key: no directory of keys: neither --keys nor DPLINE_KEYS nor HOME is given" env -u HOME dp-key show
}

@test "trust, list and forget" {
    dp-key new a > a.key
    dp-key new b > b.key
    run dp-key list a
    assert_success
    assert_output ''
    dp-key trust a site-b "$(cat b.key)"
    run dp-key list a
    assert_output "site-b $(cat b.key)"
    assert_equal "$(stat -c %a a/trusted)" 600
    complains 2 "dp-key: a trusts another key as site-b (dp-key forget site-b)" dp-key trust a site-b "$(cat a.key)"
    complains 2 "dp-key: a trusts this key already, as site-b" dp-key trust a site-b "$(cat b.key)"
    complains 2 "dp-key: a trusts this key already, as site-b" dp-key trust a again "$(cat b.key)"
    complains 2 "dp-key: 'a b' is not a name: up to 64 letters, digits and ._-" dp-key trust a "a b" "$(cat a.key)"
    complains 2 "dp-key: not a key for c: a key has the 40 characters that dp-key show prints" dp-key trust a c abc
    complains 2 "dp-key: a trusts nobody as 'c'" dp-key forget a c
    dp-key trust a self "$(cat a.key)"
    dp-key forget a site-b
    run dp-key list a
    assert_output "self $(cat a.key)"
}

@test "keys are files, not links to files" {
    dp-key new k > key
    mv k/own elsewhere
    ln -s ../elsewhere k/own
    complains 5 'dp-key: k/own is a symbolic link, and keys are kept in files' dp-key show k
}

@test "what others can read or write is refused" {
    dp-key new k > key
    for mode in 710 705 770; do
        chmod $mode k
        complains 5 "dp-key: k is open to others: chmod 700" dp-key show k
        complains 5 "dp-key: k is open to others: chmod 700" dp-key trust k a "$(cat key)"
    done
    chmod 700 k
    chmod 640 k/own
    complains 5 "dp-key: k/own is open to others: chmod 600" dp-key show k
    dp-key trust k a "$(cat key)"
    chmod 620 k/trusted
    complains 5 "dp-key: k/trusted is open to others: chmod 600" dp-key list k
    chmod 600 k/trusted
    echo "b c d" >> k/trusted
    complains 1 "dp-key: k/trusted:2: not a name and a key" dp-key list k
    chmod 600 k/own
    echo nothing > k/own
    complains 1 "dp-key: k/own holds no key pair" dp-key show k
    rm k/own
    complains 2 "dp-key: k: no key pair of one's own (dp-key new makes one)" dp-key show k
}

@test "keys of another user are refused" {
    [ "$(id -u)" = 0 ] || skip "needs root, who can give a file away"
    dp-key new k > key
    dp-key trust k a "$(cat key)"
    chown nobody k/own
    complains 5 "dp-key: k/own belongs to another user: keys are one's own" dp-key show k
    chown root k/own
    chown nobody k/trusted
    complains 5 "dp-key: k/trusted belongs to another user: keys are one's own" dp-key list k
    chown root k/trusted
    chown nobody k
    complains 5 "dp-key: k belongs to another user: keys are one's own" dp-key show k
    complains 5 "dp-key: k belongs to another user: keys are one's own" dp-key trust k b "$(cat key)"
}

@test "wrong words" {
    complains 2 "dp-key: say what to do: new, show, trust, list or forget (try --help)" dp-key
    complains 2 "dp-key: say what to do: new, show, trust, list or forget (try --help)" dp-key make
    complains 2 "dp-key: new: takes a directory, or nothing" dp-key new a b
    complains 2 "dp-key: trust: takes a name and a public key, optionally after a directory" dp-key trust a
    complains 2 "dp-key: forget: takes a name, optionally after a directory" dp-key forget
}

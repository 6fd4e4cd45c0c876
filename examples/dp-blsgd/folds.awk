# The fold, 0 … K − 1, of each of N rows, one a line: a permutation of the rows in equal parts.
#   awk -v rows=N -v folds=K -v seed=S -f folds.awk
# The permutation is public: it depends on the seed alone, and on the generator of Park and Miller, which is the same in every awk.
BEGIN {
    state = (seed * 7919 + 12345) % 2147483647
    for (i = 0; i < 20; i++) draw()
    for (i = 1; i <= rows; i++) fold[i] = i % folds
    for (i = rows; i > 1; i--) {
        j = 1 + int(draw() / 2147483647 * i)
        t = fold[i]
        fold[i] = fold[j]
        fold[j] = t
    }
    for (i = 1; i <= rows; i++) print fold[i]
}
function draw() { return state = state * 16807 % 2147483647 }

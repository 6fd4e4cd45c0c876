# AdaSSP (Wang 2018): solves the released moments of rows, and of rows and labels, once, and scores test rows. A line begins with its kind:
# "moments" and a number of the upper triangle, row by row; "gradient" and a number of the sum of y x, output by output; "row" and the
# numbers of a test row; "label" and its label. Variables: cols, classes (0 for numbers), z (the deviation of the noise).
BEGIN {
    outputs = classes > 2 ? classes : 1
    i = j = k = column = 1
}
$1 == "moments" {
    m[i, j] = m[j, i] = $2 / (i == j ? 1 : sqrt(2))
    if (++j > cols) j = ++i
    next
}
$1 == "gradient" {
    v[column, k] = $2
    if (++column > cols) {
        column = 1
        k++
    }
    next
}
$1 == "row" {
    if (!solved) solve()
    n++
    for (k = 1; k <= outputs; k++) {
        u = 0
        for (j = 1; j <= cols; j++) u += w[j, k] * $(j + 1)
        score[n, k] = u
    }
    next
}
$1 == "label" { y[++labels] = $2 }

# solve: (M + lambda I) w = v, by Cholesky. lambda is what the noise on the matrix is at most, with probability
# .95; the least eigenvalue, which is taken off it there, is next to 0 for these data.
function solve(    i, j, k, lambda, s) {
    solved = 1
    lambda = z / sqrt(2) * sqrt(cols * log(2 * cols ^ 2 / 0.05))
    for (i = 1; i <= cols; i++) {
        m[i, i] += lambda
        for (j = 1; j <= i; j++) {
            s = m[i, j]
            for (k = 1; k < j; k++) s -= l[i, k] * l[j, k]
            if (i == j && s <= 0) {
                print "adassp.awk: the matrix is not positive definite" > "/dev/stderr"
                exit failed = 1
            }
            l[i, j] = i == j ? sqrt(s) : s / l[j, j]
        }
    }
    for (k = 1; k <= outputs; k++) {
        for (i = 1; i <= cols; i++) {
            s = v[i, k]
            for (j = 1; j < i; j++) s -= l[i, j] * w[j, k]
            w[i, k] = s / l[i, i]
        }
        for (i = cols; i >= 1; i--) {
            s = w[i, k]
            for (j = i + 1; j <= cols; j++) s -= l[j, i] * w[j, k]
            w[i, k] = s / l[i, i]
        }
    }
}
END {
    if (failed) exit 1
    if (!n || n != labels) {
        print "adassp.awk: " n + 0 " rows and " labels + 0 " labels" > "/dev/stderr"
        exit 1
    }
    for (i = 1; i <= n; i++) {
        mean += y[i] / n
        best = 1
        for (k = 2; k <= outputs; k++) if (score[i, k] > score[i, best]) best = k
        right += (outputs > 1 ? best - 1 : score[i, 1] > 0) == y[i]
    }
    for (i = 1; i <= n; i++) {
        error += (y[i] - score[i, 1]) ^ 2
        spread += (y[i] - mean) ^ 2
    }
    printf "%.5f\t-\t-\n", classes ? right / n : 1 - error / spread
}

#include "plot.h"

#include "base/mem.h"
#include "base/text.h"
#include "data/date.h"
#include "members.h"

enum { SIDE = 220, LEFT = 44, TOP = 10, BELOW = 36, BAR = 18, NAMES = 190, WIDTH = 640 };

void plot_text(const char *text, FILE *out)
{
    char next[DP_TEXT_NEXT + 1];
    size_t written;
    for (size_t left = strlen(text), step; left > 0; text += step, left -= step) {
        step = dp_text_next(text, left, next, &written);
        next[written] = '\0';
        dp_text_xml(next, out);
    }
}

static void begin(int width, int height, const char *title, FILE *out)
{
    fprintf(out, "<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\"><title>", width, height, width, height);
    plot_text(title, out);
    fputs("</title>\n", out);
}

static double across(double x)
{
    return LEFT + x * SIDE;
}

static double down(double y)
{
    return TOP + (1 - y) * SIDE;
}

static void put_frame(const char *x, const char *y, FILE *out)
{
    fprintf(out, "<rect class=\"axis\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", LEFT, TOP, SIDE, SIDE);
    fprintf(out, "<text x=\"%g\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", across(.5), TOP + SIDE + 31, x);
    fprintf(out, "<text transform=\"translate(12 %g) rotate(-90)\" text-anchor=\"middle\">%s</text>\n", down(.5), y);
}

static void put_axes(const char *x, const char *y, FILE *out)
{
    put_frame(x, y, out);
    fprintf(out, "<line class=\"chance\" x1=\"%g\" y1=\"%g\" x2=\"%g\" y2=\"%g\"/>\n", across(0), down(0), across(1), down(1));
    for (int k = 0; k <= 2; k++) {
        fprintf(out, "<text x=\"%g\" y=\"%d\" text-anchor=\"middle\">%g</text>", across(k / 2.0), TOP + SIDE + 15, k / 2.0);
        fprintf(out, "<text x=\"%d\" y=\"%g\" text-anchor=\"end\">%g</text>\n", LEFT - 5, down(k / 2.0) + 4, k / 2.0);
    }
}

static double at(const json_t *point, size_t k)
{
    return json_number_value(json_array_get(point, k));
}

void plot_dots(const json_t *points, const char *x, const char *y, const char *title, FILE *out)
{
    double most = 1;
    size_t i;
    json_t *point;
    json_array_foreach (points, i, point)
        most = fmax(most, at(point, 2));
    begin(LEFT + SIDE + 12, TOP + SIDE + BELOW, title, out);
    put_axes(x, y, out);
    json_array_foreach (points, i, point)
        fprintf(out, "<circle class=\"q\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", across(at(point, 0)), down(at(point, 1)),
                2 + 7 * sqrt(at(point, 2) / most));
    fputs("</svg>\n", out);
}

static void put_found(const struct dp_tradeoff *t, const char *how, FILE *out)
{
    enum { STEPS = 100 };
    fprintf(out, "<polyline class=\"%s\" points=\"", how);
    for (int i = 0; i <= STEPS; i++) {
        double a = pow((double)i / STEPS, 2); /* more where the curve bends */
        fprintf(out, "%.1f,%.1f ", across(a), down(dp_tradeoff_found(t, a)));
    }
    fputs("\"/>\n", out);
}

void plot_tradeoff(const struct dp_tradeoff *run, const struct dp_tradeoff *pair, FILE *out)
{
    begin(LEFT + SIDE + 12, TOP + SIDE + BELOW, "what an attacker finds", out);
    put_axes("false alarms", "persons found", out);
    if (pair != NULL)
        put_found(pair, "o", out);
    put_found(run, "p", out);
    fputs("</svg>\n", out);
}

/* At most `most` characters of UTF-8. */
static void put_cut(const char *text, size_t most, FILE *out)
{
    char name[200];
    size_t used = 0, characters = 0;
    for (; text[used] != '\0' && used + 5 < sizeof name; used++) {
        characters += ((unsigned char)text[used] & 0xc0) != 0x80;
        if (characters > most)
            break;
    }
    snprintf(name, sizeof name, "%.*s%s", (int)used, text, text[used] != '\0' ? "…" : "");
    plot_text(name, out);
}

enum { NAMES_OF_CURVES = 170, LINE = 18 };

void plot_roc(const json_t *curves, size_t most, FILE *out)
{
    size_t i, k, count = json_array_size(curves) < most ? json_array_size(curves) : most;
    bool several = count > 1;
    json_t *point;
    begin(LEFT + SIDE + (several ? NAMES_OF_CURVES : 12), TOP + SIDE + BELOW, several ? "ROC curves" : "ROC curve", out);
    put_axes("part of the other rows", "part of the rows found", out);
    for (i = 0; i < count; i++) {
        const json_t *curve = json_array_get(curves, i);
        char colour[64] = "";
        if (several)
            snprintf(colour, sizeof colour, " style=\"stroke:hsl(%zu 60%% 50%%)\"", 360 * i / count);
        fprintf(out, "<polyline class=\"p\"%s points=\"", colour);
        json_array_foreach (json_object_get(curve, "roc"), k, point)
            fprintf(out, "%.1f,%.1f ", across(at(point, 0)), down(at(point, 1)));
        fputs("\"/>\n", out);
        if (!several)
            continue;
        double y = TOP + LINE * ((double)i + 1);
        fprintf(out, "<line class=\"p\"%s x1=\"%d\" y1=\"%g\" x2=\"%d\" y2=\"%g\"/>", colour, LEFT + SIDE + 8, y - 4,
                LEFT + SIDE + 20, y - 4);
        fprintf(out, "<text x=\"%d\" y=\"%g\">%.3f ", LEFT + SIDE + 24, y, number(curve, "auc"));
        put_cut(text(curve, "class"), 16, out);
        fputs("</text>\n", out);
    }
    fputs("</svg>\n", out);
}

/* Round numbers around the values, and a round number in the middle of them. */
static void widen(double *low, double *high)
{
    double unit = *high > *low ? pow(10, floor(log10(*high - *low))) / 2 : fmax(fabs(*high), 1) / 2;
    *low = floor(*low / unit + 1e-9) * unit;
    *high = ceil(*high / unit - 1e-9) * unit;
    if (!(*low < *high))
        *high = *low + 2 * unit;
    if (fmod(round((*high - *low) / unit), 2) == 1)
        *high += unit;
}

void plot_along(const json_t *points, const char *name, double level, bool zero, const char *title, FILE *out)
{
    const json_t *last = json_array_get(points, json_array_size(points) - 1);
    double from = number(json_array_get(points, 0), "lap"), to = number(last, "lap");
    double low = zero ? 0 : isnan(level) ? number(last, name) : level, high = isnan(level) ? low : level;
    size_t i;
    json_t *point;
    json_array_foreach (points, i, point) {
        low = fmin(low, number(point, name));
        high = fmax(high, number(point, name));
    }
    widen(&low, &high);
    begin(LEFT + SIDE + 12, TOP + SIDE + BELOW, title, out);
    put_frame("lap", title, out);
    if (!isnan(level))
        fprintf(out, "<line class=\"chance\" x1=\"%g\" y1=\"%.1f\" x2=\"%g\" y2=\"%.1f\"/>\n", across(0),
                down((level - low) / (high - low)), across(1), down((level - low) / (high - low)));
    for (int k = 0; k <= 2; k++) {
        double part = k / 2.0;
        fprintf(out, "<text x=\"%g\" y=\"%d\" text-anchor=\"middle\">%.6g</text>", across(part), TOP + SIDE + 15,
                round(from + part * (to - from)));
        fprintf(out, "<text x=\"%d\" y=\"%g\" text-anchor=\"end\">%.3g</text>\n", LEFT - 5, down(part) + 4,
                low + part * (high - low));
    }
    fputs("<polyline class=\"p\" points=\"", out);
    json_array_foreach (points, i, point)
        fprintf(out, "%.1f,%.1f ", across((number(point, "lap") - from) / (to - from)),
                down((number(point, name) - low) / (high - low)));
    fputs("\"/>\n</svg>\n", out);
}

void plot_bars(char *const *names, const double *values, size_t count, const char *unit, const char *title, FILE *out)
{
    double most = 0, least = 0;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, fabs(values[i]));
        least = fmin(least, values[i]);
    }
    /* 0 is at the left if no bar goes there. */
    double middle = least < 0 ? NAMES + (WIDTH - NAMES - 60) / 2.0 : NAMES,
           half = least < 0 ? (WIDTH - NAMES - 180) / 2.0 : WIDTH - NAMES - 60;
    begin(WIDTH, (int)count * BAR + 8, title, out);
    for (size_t i = 0; i < count; i++) {
        double length = most > 0 ? fabs(values[i]) / most * half : 0, y = (double)i * BAR + 4;
        fprintf(out, "<text x=\"%d\" y=\"%g\" text-anchor=\"end\">", NAMES - 8, y + 12);
        put_cut(names[i], 30, out);
        fprintf(out, "</text><rect class=\"%s\" x=\"%.1f\" y=\"%g\" width=\"%.1f\" height=\"%d\"/>", values[i] < 0 ? "r" : "q",
                values[i] < 0 ? middle - length : middle, y + 2, length, BAR - 5);
        fprintf(out, "<text x=\"%.1f\" y=\"%g\"%s>%.3g%s</text>\n", values[i] < 0 ? middle - length - 4 : middle + length + 4,
                y + 12, values[i] < 0 ? " text-anchor=\"end\"" : "", values[i], unit);
    }
    fputs("</svg>\n", out);
}

void plot_budget(double spent, double budget, FILE *out)
{
    double part = budget > 0 ? fmin(1, spent / budget) : 1;
    begin(WIDTH, 34, "budget", out);
    fprintf(out, "<rect class=\"axis\" x=\"1\" y=\"4\" width=\"%d\" height=\"24\"/>\n", WIDTH - 2);
    fprintf(out, "<rect class=\"q\" x=\"1\" y=\"4\" width=\"%.1f\" height=\"24\"/></svg>\n", part * (WIDTH - 2));
}

void plot_range(const json_t *curves, double *low, double *high)
{
    size_t i, k;
    json_t *curve, *point;
    *low = *high = 0;
    json_array_foreach (curves, i, curve)
        json_array_foreach (json_object_get(curve, "points"), k, point) {
            bool known = json_object_get(point, "low") != NULL;
            *low = fmin(*low, number(point, known ? "low" : "effect"));
            *high = fmax(*high, number(point, known ? "high" : "effect"));
        }
    if (!(*low < *high))
        *high = *low + 1;
}

enum { CURVE_LEFT = 40, CURVE_TOP = 26, CURVE_WIDE = 160, CURVE_TALL = 100, CURVE_NAME = 27 };

/* The corners of a line through one member of all points; in reverse order for the lower edge of an area. */
static void put_corners(const json_t *points, const char *name, bool backwards, double low, double high, FILE *out)
{
    size_t count = json_array_size(points);
    double first = number(json_array_get(points, 0), "value"), last = number(json_array_get(points, count - 1), "value");
    for (size_t i = 0; i < count; i++) {
        const json_t *point = json_array_get(points, backwards ? count - 1 - i : i);
        fprintf(out, "%.1f,%.1f ", CURVE_LEFT + CURVE_WIDE * (number(point, "value") - first) / (last - first),
                CURVE_TOP + CURVE_TALL * (high - number(point, name)) / (high - low));
    }
}

/* An end of the axis: a number; or the date, or the time of day, if values are days. */
static void put_end(const json_t *curve, size_t point, int x, const char *anchor, FILE *out)
{
    const char *format = json_string_value(json_object_get(curve, "date"));
    const double value = number(json_array_get(json_object_get(curve, "points"), point), "value");
    char date[DP_DATE_TEXT];
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">", x, CURVE_TOP + CURVE_TALL + 15, anchor);
    if (format != NULL)
        fputs(dp_date_print(dp_date_is_time(format) ? "%H:%M" : "%Y-%m-%d", value, date), out);
    else
        fprintf(out, "%.6g", value);
    fputs("</text>", out);
}

/* A number at the left of a curve. */
static void put_level(double value, int y, FILE *out)
{
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", CURVE_LEFT - 4, y);
    fprintf(out, fabs(value) >= 100 && fabs(value) < 1e5 ? "%.0f" : "%.2g", value);
    fputs("</text>", out);
}

/* "carat" above a curve, or "carat" and below it "where color=D". */
static void put_name(const json_t *curve, FILE *out)
{
    const char *column = json_string_value(json_object_get(curve, "column"));
    const char *where = json_string_value(json_object_get(curve, "where"));
    size_t left = strlen(column) - (where != NULL ? strlen(where) + strlen(" where ") : 0);
    char *first = dp_got(strndup(column, left));
    fprintf(out, "<text x=\"%d\" y=\"%d\">", CURVE_LEFT, CURVE_TOP - (where != NULL ? 16 : 5));
    put_cut(first, CURVE_NAME, out);
    if (where != NULL) {
        fprintf(out, "</text><text x=\"%d\" y=\"%d\">", CURVE_LEFT, CURVE_TOP - 5);
        put_cut(column + left + 1, CURVE_NAME, out);
    }
    fputs("</text>", out);
    free(first);
}

void plot_curve(const json_t *curve, double low, double high, int x, int y, FILE *out)
{
    const json_t *points = json_object_get(curve, "points");
    const char *column = json_string_value(json_object_get(curve, "column"));
    double zero = CURVE_TOP + CURVE_TALL * high / (high - low);
    fprintf(out, "<svg x=\"%d\" y=\"%d\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\"><title>", x, y,
            PLOT_CURVE_WIDTH, PLOT_CURVE_HEIGHT, PLOT_CURVE_WIDTH, PLOT_CURVE_HEIGHT);
    plot_text(column, out);
    fprintf(out, "</title>\n<rect class=\"axis\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>", CURVE_LEFT, CURVE_TOP,
            CURVE_WIDE, CURVE_TALL);
    fprintf(out, "<line class=\"chance\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>\n", CURVE_LEFT, zero,
            CURVE_LEFT + CURVE_WIDE, zero);
    if (json_object_get(json_array_get(points, 0), "low") != NULL) {
        fputs("<polyline class=\"b\" points=\"", out);
        put_corners(points, "high", false, low, high, out);
        put_corners(points, "low", true, low, high, out);
        fputs("\"/>\n", out);
    }
    fputs("<polyline class=\"p\" points=\"", out);
    put_corners(points, "effect", false, low, high, out);
    fputs("\"/>\n", out);
    put_name(curve, out);
    put_end(curve, 0, CURVE_LEFT, "start", out);
    put_end(curve, json_array_size(points) - 1, CURVE_LEFT + CURVE_WIDE, "end", out);
    put_level(high, CURVE_TOP + 9, out);
    put_level(fabs(low) < (high - low) / 100 ? 0 : low, CURVE_TOP + CURVE_TALL, out);
    fputs("</svg>\n", out);
}

static const char style_of_curves[] =
    "<style>:root { color-scheme: light dark; --ink: #1c2430; --line: #c9d0d9; --ground: #fff; --blue: #2563a8 } @media "
    "(prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --line: #3c4654; --ground: #14181e; --blue: #6aa9ea } } "
    "text { font: 11px system-ui, sans-serif; fill: var(--ink) } .ground { fill: var(--ground) } .axis { fill: none; stroke: "
    "var(--line) } .chance { stroke: var(--ink); stroke-dasharray: 4 4 } .p { fill: none; stroke: var(--blue); stroke-width: 2 } "
    ".b { fill: var(--blue); opacity: .25 }</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n";

static const char *class_of(const json_t *curves, size_t i)
{
    return json_string_value(json_object_get(json_array_get(curves, i), "class"));
}

/* Curves of one class stand together, with the class above them. */
void plot_curves(const json_t *curves, FILE *out)
{
    size_t count = json_array_size(curves), each = 0;
    double low, high;
    while (each < count && strcmp(class_of(curves, each), class_of(curves, 0)) == 0)
        each++;
    int rows = ((int)each + PLOT_CURVES_ABREAST - 1) / PLOT_CURVES_ABREAST, tall = rows * PLOT_CURVE_HEIGHT + 24;
    int width = PLOT_CURVES_ABREAST * PLOT_CURVE_WIDTH, height = each > 0 ? (int)(count / each) * tall : 0;
    fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\">\n", width, height,
            width, height);
    fputs(style_of_curves, out);
    plot_range(curves, &low, &high);
    for (size_t i = 0; i < count; i++) {
        int top = (int)(i / each) * tall, place = (int)(i % each);
        if (place == 0 && class_of(curves, i)[0] != '\0') {
            fprintf(out, "<text x=\"4\" y=\"%d\">class ", top + 16);
            plot_text(class_of(curves, i), out);
            fputs("</text>\n", out);
        }
        plot_curve(json_array_get(curves, i), low, high, place % PLOT_CURVES_ABREAST * PLOT_CURVE_WIDTH,
                   top + 20 + place / PLOT_CURVES_ABREAST * PLOT_CURVE_HEIGHT, out);
    }
    fputs("</svg>\n", out);
}

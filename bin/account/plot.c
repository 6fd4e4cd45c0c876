#include "plot.h"

#include <math.h>

enum { SIDE = 220, LEFT = 44, TOP = 10, BELOW = 36, BAR = 18, NAMES = 190, WIDTH = 640 };

void plot_text(const char *text, FILE *out)
{
    for (; *text != '\0'; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            putc(*text, out);
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

static void put_axes(const char *x, const char *y, FILE *out)
{
    fprintf(out, "<rect class=\"axis\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", LEFT, TOP, SIDE, SIDE);
    fprintf(out, "<line class=\"chance\" x1=\"%g\" y1=\"%g\" x2=\"%g\" y2=\"%g\"/>\n", across(0), down(0), across(1), down(1));
    for (int k = 0; k <= 2; k++) {
        fprintf(out, "<text x=\"%g\" y=\"%d\" text-anchor=\"middle\">%g</text>", across(k / 2.0), TOP + SIDE + 15, k / 2.0);
        fprintf(out, "<text x=\"%d\" y=\"%g\" text-anchor=\"end\">%g</text>\n", LEFT - 5, down(k / 2.0) + 4, k / 2.0);
    }
    fprintf(out, "<text x=\"%g\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", across(.5), TOP + SIDE + 31, x);
    fprintf(out, "<text transform=\"translate(12 %g) rotate(-90)\" text-anchor=\"middle\">%s</text>\n", down(.5), y);
}

static double at(const json_t *point, size_t k)
{
    return json_number_value(json_array_get(point, k));
}

void plot_square(const json_t *points, bool line, const char *x, const char *y, const char *title, FILE *out)
{
    double most = 1;
    size_t i;
    json_t *point;
    json_array_foreach (points, i, point)
        most = fmax(most, at(point, 2));
    begin(LEFT + SIDE + 12, TOP + SIDE + BELOW, title, out);
    put_axes(x, y, out);
    if (line)
        fputs("<polyline class=\"p\" points=\"", out);
    json_array_foreach (points, i, point)
        if (line)
            fprintf(out, "%.1f,%.1f ", across(at(point, 0)), down(at(point, 1)));
        else
            fprintf(out, "<circle class=\"q\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n", across(at(point, 0)), down(at(point, 1)),
                    2 + 7 * sqrt(at(point, 2) / most));
    fputs(line ? "\"/>\n</svg>\n" : "</svg>\n", out);
}

void plot_bars(char *const *names, const double *values, size_t count, const char *title, FILE *out)
{
    double most = 0, middle = NAMES + (WIDTH - NAMES - 60) / 2.0, half = (WIDTH - NAMES - 180) / 2.0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(values[i]));
    begin(WIDTH, (int)count * BAR + 8, title, out);
    for (size_t i = 0; i < count; i++) {
        double length = most > 0 ? fabs(values[i]) / most * half : 0, y = (double)i * BAR + 4;
        fprintf(out, "<text x=\"%d\" y=\"%g\" text-anchor=\"end\">", NAMES - 8, y + 12);
        plot_text(names[i], out);
        fprintf(out, "</text><rect class=\"%s\" x=\"%.1f\" y=\"%g\" width=\"%.1f\" height=\"%d\"/>", values[i] < 0 ? "r" : "q",
                values[i] < 0 ? middle - length : middle, y + 2, length, BAR - 5);
        fprintf(out, "<text x=\"%.1f\" y=\"%g\"%s>%.3g</text>\n", values[i] < 0 ? middle - length - 4 : middle + length + 4,
                y + 12, values[i] < 0 ? " text-anchor=\"end\"" : "", values[i]);
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

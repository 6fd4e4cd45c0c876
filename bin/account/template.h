/* template_print(template, json, out): print a text with {{tags}}, filled from a JSON object.
 *
 *   {{name}}                 the value, with <, >, & and " escaped
 *   {{name up 4}}            a number rounded up to 4 digits; if it is not finite "without bound", or else "unknown"
 *   {{name to 4}}            a number rounded to the nearest with 4 digits
 *   {{name first 8}}         the first 8 bytes of a text
 *   {{name day}}             seconds since 1970 as YYYY-MM-DD
 *   {{name count run}}       "1 run", "2 runs"
 *   {{&name}}                a text as it is: a drawing
 *   {{#name}}…{{/name}}      for each object of an array, with its members; with the members of an object; once for a text, a
 *                            number and true; not at all for "", 0, false, null, [] and a name that is not there
 *   {{^name}}…{{/name}}      once where {{#name}} is not printed at all
 *
 * A name is looked for in the innermost object, then in those around it. A text in an array is {{.}}. No section is within one
 * of the same name. A tag that cannot be read ends the program. */
#pragma once

#include <jansson.h>

#include "base/c.h"

void template_print(const char *template, const json_t *json, FILE *out);

#include "proto.h"

#include "base/mem.h"

enum { VARINT = 0, BYTES = 2, FIXED32 = 5 };

void proto_open(struct proto *message)
{
    message->out = dp_got(open_memstream(&message->bytes, &message->size));
}

static void put_varint(FILE *out, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        fputc((int)(value & 127) | 128, out);
    fputc((int)value, out);
}

static void put_tag(FILE *out, unsigned field, unsigned type)
{
    put_varint(out, field << 3 | type);
}

void proto_close(struct proto *message, FILE *into, unsigned field)
{
    if (message->out == NULL)
        return;
    fclose(message->out);
    put_tag(into, field, BYTES);
    put_varint(into, message->size);
    fwrite(message->bytes, 1, message->size, into);
    free(message->bytes);
    *message = (struct proto){0};
}

void proto_number(FILE *out, unsigned field, uint64_t value)
{
    put_tag(out, field, VARINT);
    put_varint(out, value);
}

void proto_text(FILE *out, unsigned field, const char *text)
{
    put_tag(out, field, BYTES);
    put_varint(out, strlen(text));
    fputs(text, out);
}

static void put_float(FILE *out, double value)
{
    float one = (float)value;
    uint32_t bits;
    memcpy(&bits, &one, sizeof bits);
    for (int k = 0; k < 4; k++)
        fputc((int)(bits >> 8 * k & 255), out);
}

void proto_float(FILE *out, unsigned field, double value)
{
    put_tag(out, field, FIXED32);
    put_float(out, value);
}

void proto_floats(FILE *out, unsigned field, const double *value, size_t count)
{
    put_tag(out, field, BYTES);
    put_varint(out, 4 * count);
    for (size_t i = 0; i < count; i++)
        put_float(out, value[i]);
}

#include "images/decode.h"

#include <ctype.h>
#include <setjmp.h>

#include <jpeglib.h>
#include <png.h>

#include "base/mem.h"

/* The image file, and the pixels that are decoded from it. The libraries jump to `failed` with the reason in `why`. */
struct decoder {
    const unsigned char *bytes;
    size_t size, at;
    const char *name;
    struct dp_image_shape shape;
    unsigned char *pixels;
    unsigned char **row; /* PNG: where each row of pixels begins */
    int rc;
    char why[120];
    jmp_buf failed;
};

static int no_image(const struct decoder *d, const char *format, struct dp_err *err)
{
    return dp_fail(err, DP_E_RUN, "%s is damaged, or no %s image: %s", d->name, format, d->why);
}

/* Makes room for the pixels of d->shape. */
static int make_pixels(struct decoder *d, struct dp_err *err)
{
    const struct dp_image_shape s = d->shape;
    if (s.height == 0 || s.width == 0)
        return dp_fail(err, DP_E_RUN, "%s has no pixels", d->name);
    if (s.width > DP_IMAGE_BYTES_MOST || s.height > DP_IMAGE_BYTES_MOST / s.width / s.channels)
        return dp_fail(err, DP_E_RUN, "%s has %zu x %zu pixels, more than %zu bytes", d->name, s.width, s.height,
                       DP_IMAGE_BYTES_MOST);
    d->pixels = dp_new(dp_image_bytes(s), 1);
    return DP_OK;
}

/* --- PNG --------------------------------------------------------------------------------------------------------------- */

static void png_failed(png_structp png, const char *why)
{
    struct decoder *d = png_get_error_ptr(png);
    snprintf(d->why, sizeof d->why, "%s", why);
    longjmp(d->failed, 1);
}

static void png_warned(png_structp png, const char *why)
{
    (void)png;
    (void)why;
}

static void png_take(png_structp png, unsigned char *out, size_t size)
{
    struct decoder *d = png_get_io_ptr(png);
    if (size > d->size - d->at)
        png_error(png, "it is cut short");
    memcpy(out, d->bytes + d->at, size);
    d->at += size;
}

/* 8 bits for each channel, without transparency. */
static void png_plain(png_structp png, png_infop info, struct decoder *d)
{
    png_set_user_limits(png, 1000000, 1000000);
    png_read_info(png, info);
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_strip_alpha(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    d->shape =
        (struct dp_image_shape){png_get_image_height(png, info), png_get_image_width(png, info), png_get_channels(png, info)};
}

static int decode_png(struct decoder *d, struct dp_err *err)
{
    png_structp png = dp_got(png_create_read_struct(PNG_LIBPNG_VER_STRING, d, png_failed, png_warned));
    png_infop info = dp_got(png_create_info_struct(png));
    d->rc = DP_OK;
    if (setjmp(d->failed) == 0) {
        png_set_read_fn(png, d, png_take);
        png_plain(png, info, d);
        d->rc = make_pixels(d, err);
        if (d->rc == DP_OK)
            d->row = dp_new(d->shape.height, sizeof *d->row);
        for (size_t i = 0; d->rc == DP_OK && i < d->shape.height; i++)
            d->row[i] = d->pixels + i * d->shape.width * d->shape.channels;
        if (d->rc == DP_OK) {
            png_read_image(png, d->row);
            png_read_end(png, NULL);
        }
    } else {
        d->rc = no_image(d, "PNG", err);
    }
    png_destroy_read_struct(&png, &info, NULL);
    free(d->row);
    return d->rc;
}

/* --- JPEG -------------------------------------------------------------------------------------------------------------- */

static void jpeg_failed(j_common_ptr jpeg)
{
    struct decoder *d = jpeg->client_data;
    char why[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, why);
    snprintf(d->why, sizeof d->why, "%.100s", why);
    longjmp(d->failed, 1);
}

/* A warning (level −1) means that pixels are made up. */
static void jpeg_said(j_common_ptr jpeg, int level)
{
    if (level < 0)
        jpeg_failed(jpeg);
}

static int decode_jpeg(struct decoder *d, struct dp_err *err)
{
    struct jpeg_decompress_struct jpeg = {.client_data = d};
    struct jpeg_error_mgr messages;
    jpeg.err = jpeg_std_error(&messages);
    messages.error_exit = jpeg_failed;
    messages.emit_message = jpeg_said;
    d->rc = DP_OK;
    if (setjmp(d->failed) == 0) {
        jpeg_create_decompress(&jpeg);
        jpeg.client_data = d;
        jpeg_mem_src(&jpeg, d->bytes, d->size);
        jpeg_read_header(&jpeg, TRUE);
        jpeg.out_color_space = jpeg.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
        jpeg.dct_method = JDCT_ISLOW; /* whole numbers: the same pixels on every machine */
        jpeg_calc_output_dimensions(&jpeg);
        d->shape = (struct dp_image_shape){jpeg.output_height, jpeg.output_width, jpeg.num_components == 1 ? 1 : 3};
        d->rc = make_pixels(d, err);
        if (d->rc == DP_OK)
            jpeg_start_decompress(&jpeg);
        while (d->rc == DP_OK && jpeg.output_scanline < jpeg.output_height) {
            JSAMPROW row = d->pixels + jpeg.output_scanline * d->shape.width * d->shape.channels;
            jpeg_read_scanlines(&jpeg, &row, 1);
        }
        if (d->rc == DP_OK)
            jpeg_finish_decompress(&jpeg);
    } else {
        d->rc = no_image(d, "JPEG", err);
    }
    jpeg_destroy_decompress(&jpeg);
    return d->rc;
}

/* --- PGM and PPM ------------------------------------------------------------------------------------------------------- */

/* The next number of the header or of plain pixels, after blanks and comments; −1 if no number follows, or a number that no
 * image has. */
static long pnm_number(struct decoder *d)
{
    long value = -1;
    while (d->at < d->size && (isspace(d->bytes[d->at]) || d->bytes[d->at] == '#')) {
        const unsigned char *from = d->bytes + d->at, *end = NULL;
        if (*from == '#')
            end = memchr(from, '\n', d->size - d->at);
        d->at = *from != '#' ? d->at + 1 : end != NULL ? (size_t)(end - d->bytes) : d->size;
    }
    for (; d->at < d->size && d->bytes[d->at] >= '0' && d->bytes[d->at] <= '9' && value < 1000000000; d->at++)
        value = (value < 0 ? 0 : 10 * value) + d->bytes[d->at] - '0';
    return value < 1000000000 ? value : -1;
}

/* P2 and P3 are numbers as text, P5 and P6 bytes, two for each number above 255. */
static int decode_pnm(struct decoder *d, struct dp_err *err)
{
    bool plain = d->bytes[1] <= '3';
    d->at = 2;
    long width = pnm_number(d), height = pnm_number(d), most = pnm_number(d);
    d->shape = (struct dp_image_shape){(size_t)height, (size_t)width, d->bytes[1] == '3' || d->bytes[1] == '6' ? 3 : 1};
    snprintf(d->why, sizeof d->why, "its header makes no sense");
    if (width < 0 || height < 0 || most < 1 || most > 65535)
        return no_image(d, "PNM", err);
    int rc = make_pixels(d, err);
    size_t pixels = rc == DP_OK ? dp_image_bytes(d->shape) : 0, each = most > 255 ? 2 : 1;
    d->at += !plain; /* one blank */
    snprintf(d->why, sizeof d->why, "it is cut short");
    if (rc == DP_OK && !plain && (d->at > d->size || (d->size - d->at) / each < pixels))
        rc = no_image(d, "PNM", err);
    for (size_t i = 0; rc == DP_OK && i < pixels; i++) {
        const unsigned char *p = d->bytes + d->at;
        long value = plain ? pnm_number(d) : each == 2 ? p[0] << 8 | p[1] : p[0];
        d->at += plain ? 0 : each;
        if (value > most)
            snprintf(d->why, sizeof d->why, "a pixel is larger than its header says");
        if (value < 0 || value > most)
            rc = no_image(d, "PNM", err);
        else
            d->pixels[i] = (unsigned char)((value * 255 + most / 2) / most);
    }
    return rc;
}

/* ----------------------------------------------------------------------------------------------------------------------- */

static const struct format {
    const char *magic;
    size_t length;
    int (*decode)(struct decoder *d, struct dp_err *err);
} formats[] = {
    {"\x89PNG\r\n\x1a\n", 8, decode_png},
    {"\xff\xd8\xff", 3, decode_jpeg},
    {"P2", 2, decode_pnm},
    {"P3", 2, decode_pnm},
    {"P5", 2, decode_pnm},
    {"P6", 2, decode_pnm},
};

static const struct format *format_of(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (size > formats[i].length && memcmp(bytes, formats[i].magic, formats[i].length) == 0)
            return &formats[i];
    return NULL;
}

int dp_image_decode(const unsigned char *bytes, size_t size, const char *name, struct dp_image_shape *shape,
                    unsigned char **pixels, struct dp_err *err)
{
    struct decoder d = {.bytes = bytes, .size = size, .name = name};
    const struct format *format = format_of(bytes, size);
    *pixels = NULL;
    if (format == NULL)
        return dp_fail(err, DP_E_RUN, "%s is not an image: PNG, JPEG, PGM and PPM are read", name);
    int rc = format->decode(&d, err);
    if (rc != DP_OK) {
        free(d.pixels);
        return rc;
    }
    *shape = d.shape;
    *pixels = d.pixels;
    return DP_OK;
}

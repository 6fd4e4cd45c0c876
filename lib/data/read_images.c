/* Folders of images, one folder for each class: see image_folder.h. */

#include "base/mem.h"
#include "base/text.h"
#include "data/image_folder.h"
#include "data/import.h"
#include "images/map.h"

/* The classes are the names of the folders, or the names in --classes. meant: the class of each folder. */
static int find_classes(struct dp_import *import, const struct dp_texts *folders, long *meant, struct dp_err *err)
{
    struct dp_schema *s = &import->plan.schema;
    char shown[DP_TEXT_SHOWN], classes[DP_TEXT_LISTED];
    bool listed = import->source.classes != NULL;
    int rc = listed ? dp_schema_classes(s, import->source.classes, err) : DP_OK;
    if (!listed)
        s->class = dp_new(folders->count, sizeof *s->class);
    for (size_t k = 0; rc == DP_OK && k < folders->count; k++) {
        const char *name = folders->text[k];
        size_t length = strlen(name);
        meant[k] = listed ? -1 : (long)k;
        for (size_t i = 0; listed && i < s->classes; i++)
            if (dp_texts_find(&s->class[i], name, length) >= 0)
                meant[k] = (long)i;
        if (listed && meant[k] < 0)
            rc = dp_fail(err, DP_E_RUN, "%s: the folder '%s' is not one of the classes (--classes: %s)", import->source.input,
                         dp_text_show(name, length, shown), dp_schema_show_classes(s, classes));
        if (!listed)
            dp_texts_add(&s->class[s->classes++], name, length);
    }
    if (rc == DP_OK && s->classes < 2)
        rc = dp_fail(err, DP_E_RUN, "%s: the only class is '%s' (--classes says all of them)", import->source.input,
                     DP_SHOWN(folders->text[0]));
    return rc;
}

static int put_image(struct dp_import *import, const struct dp_folder_image *image, const long *meant, struct dp_parsed *r,
                     const struct dp_import_sink *to, struct dp_err *err)
{
    size_t bytes = dp_image_bytes(image->shape);
    int rc = DP_OK;
    if (import->plan.shape.height == 0) { /* the first one */
        import->plan.shape = image->shape;
        dp_schema_alike(&import->plan.schema, bytes, (struct dp_column){.bounded = true, .high = 255}); /* a byte: public */
        rc = dp_map_fits(import->map, import->plan.shape, err);
    }
    r->count = 0;
    r->label = import->unlabelled ? 0 : (double)meant[image->class];
    for (size_t j = 0; rc == DP_OK && j < bytes; j++)
        dp_parsed_add(r, (uint32_t)j, image->pixels[j]);
    return rc ?: to->put(to->self, r, err);
}

int dp_read_images(struct dp_import *import, const struct dp_import_sink *to, struct dp_err *err)
{
    struct dp_image_folder *folder = NULL;
    struct dp_folder_image image;
    struct dp_parsed r = {0};
    long *meant = NULL;
    import->plan.schema.label = -1;
    int rc = dp_image_folder_open(&folder, import->source.input, import->unlabelled, err);
    const struct dp_texts *folders = rc == DP_OK ? dp_image_folder_classes(folder) : NULL;
    if (rc == DP_OK)
        meant = dp_new(folders->count + 1, sizeof *meant);
    if (rc == DP_OK && !import->unlabelled)
        rc = find_classes(import, folders, meant, err);
    while (rc >= 0 && (rc = dp_image_folder_next(folder, &image, err)) == 1)
        if ((rc = put_image(import, &image, meant, &r, to, err)) != DP_OK)
            break;
    if (rc == DP_OK)
        dp_image_folder_digest(folder, import->result.table);
    dp_image_folder_close(folder);
    dp_parsed_free(&r);
    free(meant);
    return rc;
}

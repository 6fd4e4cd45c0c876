/* A port that is a queue of frames in memory. */
#include <stdlib.h>

#include "base/mem.h"
#include "port/port.h"

struct node {
    struct dp_frame *frame;
    struct node *next;
};

struct memory_port {
    struct node *head, **tail;
};

static void pop(struct memory_port *p)
{
    struct node *n = p->head;
    p->head = n->next;
    if (p->head == NULL)
        p->tail = &p->head;
    dp_frame_free(n->frame);
    free(n);
}

static int memory_read(struct dp_port *port, struct dp_frame *frame, struct dp_err *err)
{
    struct memory_port *p = port->self;
    if (p->head == NULL)
        return 0;
    int rc = dp_frame_copy(frame, p->head->frame, err);
    pop(p);
    return rc < 0 ? rc : 1;
}

static int memory_write(struct dp_port *port, const struct dp_frame *frame, struct dp_err *err)
{
    struct memory_port *p = port->self;
    struct node *n = NULL;
    int rc = dp_alloc(&n, 1, sizeof *n, err);
    if (rc == DP_OK)
        rc = dp_frame_new(&n->frame, err);
    if (rc == DP_OK)
        rc = dp_frame_copy(n->frame, frame, err);
    if (rc != DP_OK) {
        if (n != NULL)
            dp_frame_free(n->frame);
        free(n);
        return rc;
    }
    *p->tail = n;
    p->tail = &n->next;
    return DP_OK;
}

static int memory_commit(struct dp_port *port, struct dp_err *err)
{
    (void)port;
    (void)err;
    return DP_OK;
}

static void memory_close(void *self, bool abandon)
{
    (void)abandon;
    struct memory_port *p = self;
    while (p->head != NULL)
        pop(p);
    free(p);
}

static const struct dp_port_ops memory_ops = {memory_read, memory_write, memory_commit, memory_close, NULL, NULL};

int dp_port_open_memory(struct dp_port **port, struct dp_err *err)
{
    struct memory_port *p;
    int rc = dp_alloc(&p, 1, sizeof *p, err);
    if (rc != DP_OK)
        return rc;
    p->tail = &p->head;
    return dp_port_wrap(port, &memory_ops, p, DP_EXPOSED_NO, err);
}

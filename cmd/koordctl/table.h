#pragma once
/* Text in aligned columns. */
#include "base/arena.h"
#include "base/strbuf.h"

#define TABLE_COLUMNS_MAX 8

struct table {
    struct arena *arena; /* of the cells */
    size_t columns;
    size_t rows;
    size_t capacity;
    struct str *cells; /* rows * columns */
};

void table_init(struct table *table, struct arena *arena, size_t columns);
/* `columns` cells, copied; an empty one prints as "-". */
void table_row(struct table *table, const struct str *cells);
/* Two blanks between columns, none at line ends. Control characters become blanks. */
void table_write(struct strbuf *out, const struct table *table);

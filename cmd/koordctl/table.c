#include "table.h"

void table_init(struct table *table, struct arena *arena, size_t columns)
{
    *table = (struct table){ .arena = arena, .columns = columns };
}

static struct str printable(struct arena *arena, struct str text)
{
    if (str_empty(text))
        return STR("-");
    struct str copy = arena_str(arena, text);
    char *bytes = (char *)(uintptr_t)copy.ptr;
    for (size_t i = 0; i < copy.len; i++)
        if ((unsigned char)bytes[i] < 0x20 || bytes[i] == 0x7f)
            bytes[i] = ' ';
    return copy;
}

void table_row(struct table *table, const struct str *cells)
{
    size_t row = table->columns * sizeof *table->cells;
    if (table->rows == table->capacity) {
        size_t capacity = table->capacity ? table->capacity * 2 : 32;
        table->cells = arena_grow(table->arena, table->cells, table->capacity * row, capacity * row);
        table->capacity = capacity;
    }
    for (size_t i = 0; i < table->columns; i++)
        table->cells[table->rows * table->columns + i] = printable(table->arena, cells[i]);
    table->rows++;
}

static size_t column_width(const struct table *table, size_t column)
{
    size_t width = 0;
    for (size_t i = 0; i < table->rows; i++) {
        size_t len = table->cells[i * table->columns + column].len;
        width = len > width ? len : width;
    }
    return width;
}

void table_write(struct strbuf *out, const struct table *table)
{
    size_t widths[TABLE_COLUMNS_MAX];
    for (size_t c = 0; c < table->columns; c++)
        widths[c] = column_width(table, c);
    for (size_t i = 0; i < table->rows; i++) {
        for (size_t c = 0; c < table->columns; c++) {
            struct str cell = table->cells[i * table->columns + c];
            strbuf_add(out, cell);
            for (size_t pad = cell.len; c + 1 < table->columns && pad < widths[c] + 2; pad++)
                strbuf_addc(out, ' ');
        }
        strbuf_addc(out, '\n');
    }
}

#pragma once
/* The node entries of a policy key: who they are for, whatever they say. */
#include "selector/selector.h"
#include "sloconfig/finding.h"

struct node_entry {
    size_t index; /* in the list as written */
    struct str name;
    struct selector selector;
    const struct json *selector_json; /* as written; NULL when absent */
};

/* The list the entries stand in, for what is said about them. */
struct entry_list {
    struct str key;
    const char *name; /* "nodeConfigs", "nodeStrategies" */
    const struct node_entry *items;
    size_t count;
};

/* Identity and selector of one entry, types only: a wrong one is a finding of level
 * FINDING_REJECTED, and false. null reads as an entry that says nothing. */
bool node_entry_read(const struct entry_list *list, size_t index, const struct json *value,
                     struct findings *findings, struct node_entry *ret) MUST_CHECK;

/* What the selector says. False: it is unusable and the entry is to be left out (a finding
 * of level FINDING_ENTRY). One that matches no node, or every node, is for admission. */
bool node_entry_select(const struct entry_list *list, struct node_entry *entry, struct arena *arena,
                       struct findings *findings) MUST_CHECK;

/* Position of the first entry that matches, or `count`. */
size_t node_entry_match(const struct entry_list *list, struct labels labels);

/* "nodeConfigs[2]"; in the arena. */
struct str node_entry_path(const struct entry_list *list, size_t index, struct arena *arena);

/* --- admission ------------------------------------------------------------------- */

struct admission_node {
    struct str name;
    struct labels labels;
};

/* Names that are missing or given twice, entries that could match one node together, and,
 * where there are none of those, nodes that two entries do match: FINDING_ADMISSION. */
void node_entries_check_names(const struct entry_list *list, struct findings *findings);
void node_entries_check_overlaps(const struct entry_list *list, struct findings *findings);
void node_entries_check_nodes(const struct entry_list *list, const struct admission_node *nodes, size_t count,
                              struct findings *findings);

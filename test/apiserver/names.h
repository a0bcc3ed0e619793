#pragma once
/* Syntax of names, labels and keys, with the server's explanations. */
#include "base/str.h"

/* NULL when fine, else what is wrong (static text). */
const char *api_name_subdomain(struct str name);
const char *api_name_label(struct str name);
const char *api_name_path_segment(struct str name);
const char *api_name_qualified(struct str name);  /* [prefix/]name */
const char *api_name_config_key(struct str name); /* keys of ConfigMaps and Secrets */

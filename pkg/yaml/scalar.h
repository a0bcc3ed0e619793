#pragma once
/* What an unquoted YAML scalar means. Internal to this folder. */
#include "base/arena.h"
#include "json/json.h"

enum kyaml_class {
    KYAML_STRING,
    KYAML_NULL,
    KYAML_TRUE,
    KYAML_FALSE,
    KYAML_DECIMAL, /* 12, +12, and 012, which is octal if its digits are */
    KYAML_OCTAL,   /* 0o14 */
    KYAML_HEX,     /* 0xc */
    KYAML_FLOAT,
    KYAML_NO_NUMBER, /* .inf, .nan: JSON has none */
};

enum kyaml_class kyaml_classify(struct str text);

/* The value of a plain scalar: a number's text is a valid JSON number afterwards. False:
 * infinity or not-a-number. */
bool kyaml_plain(struct arena *arena, struct str text, const struct json **ret, struct err *err) MUST_CHECK;
